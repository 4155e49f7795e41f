/** Whether the machine itself is ready for the world, and what an operator has to see to where it is not. */
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import type { Doctor, Installation } from '../api/types.ts'
import { Failure, Waiting } from '../components/feedback.tsx'
import { Card, Mark } from '../components/show.tsx'
import { checkWords } from '../labels/checks.ts'
import { OwnNameGuide } from './own-name.tsx'

export function MachineCard({ installation }: { installation: Installation }) {
  const { data, error, reload } = useLoad<Doctor>('/doctor')
  const found = data?.findings.filter(({ status }) => status === 'failed' || status === 'warning') ?? []
  const wrong = found.filter((one, i) => found.findIndex(({ message }) => message === one.message) === i)
  const isUnreachable = found.some(({ check, status }) => check === 'base_url' && status === 'failed')
  return (
    <>
      {(installation.laboratory || isUnreachable) && (
        <Card
          title="Give the installation a name"
          lead="Once. It is what the records of all your domains lead to."
        >
          <OwnNameGuide />
        </Card>
      )}
      <Card
        title="Is the machine ready for the world?"
        lead={data ? undefined : 'It is being looked at from all sides …'}
        acts={<Link href="/deliverability">The whole check-up</Link>}
      >
        {!data && (error ? <Failure error={error} retry={reload} /> : <Waiting />)}
        {data && wrong.length === 0 && (
          <p>Yes: port 25, names, DNS, certificate and disk are as they should be.</p>
        )}
        {wrong.length > 0 && (
          <ul class="stack">
            {wrong.slice(0, 5).map(({ check, subject, status, message, advice }) => (
              <li key={message}>
                <Mark tone={status === 'failed' ? 'bad' : 'warn'}>
                  {status === 'failed' ? 'To be mended' : 'To be looked at'}
                </Mark>{' '}
                <b>{checkWords(check)}</b>
                {subject && ` (${subject})`}: {message} {advice && <span class="quiet">{advice}</span>}
              </li>
            ))}
          </ul>
        )}
      </Card>
    </>
  )
}
