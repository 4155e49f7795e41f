/** Server readiness for operators: failed checks, and the way to the setup of the public host name. */
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import type { Doctor, Installation } from '../api/types.ts'
import { LinkButton } from '../components/controls.tsx'
import { Pending } from '../components/feedback.tsx'
import { Card, Mark } from '../components/show.tsx'
import { checkWords } from '../labels/checks.ts'

export function MachineCard({ installation }: { installation: Installation }) {
  const { data, error, reload } = useLoad<Doctor>('/doctor')
  const found = data?.findings.filter(({ status }) => status === 'failed' || status === 'warning') ?? []
  const wrong = found.filter((one, i) => found.findIndex(({ message }) => message === one.message) === i)
  const backup = data?.findings.find(({ check, status }) => check === 'backup' && status === 'ok')
  const isUnreachable = found.some(({ check, status }) => check === 'base_url' && status === 'failed')
  return (
    <>
      {(installation.laboratory || isUnreachable) && (
        <Card
          title="Go live"
          lead="A one-time setup, from this server to a mailbox at Gmail: host name, DNS records, settings and the first email."
          acts={
            <LinkButton href="/setup" kind="main">
              Set up the host name
            </LinkButton>
          }
        />
      )}
      <Card
        title="Server readiness"
        lead={data ? undefined : 'Running checks …'}
        acts={<Link href="/deliverability">View all diagnostics</Link>}
      >
        {!data && <Pending of={{ error, reload }} />}
        {data && wrong.length === 0 && (
          <p>All checks passed: port 25, reverse DNS, DNS zone, TLS certificate and disk.</p>
        )}
        {wrong.length > 0 && (
          <ul class="stack">
            {wrong.slice(0, 5).map(({ check, subject, status, message, advice }) => (
              <li key={message}>
                <Mark tone={status === 'failed' ? 'bad' : 'warn'}>
                  {status === 'failed' ? 'Failed' : 'Warning'}
                </Mark>{' '}
                <b>{checkWords(check)}</b>
                {subject && ` (${subject})`}: {message} {advice && <span class="quiet">{advice}</span>}
              </li>
            ))}
          </ul>
        )}
        {backup && <p class="quiet">{backup.message}</p>}
      </Card>
    </>
  )
}
