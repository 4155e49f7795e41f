/** DKIM keys of a domain, and the schedule of their rotation. */
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { DomainKeys } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { Pending, say } from '../components/feedback.tsx'
import { Card, Mark, Time } from '../components/show.tsx'
import type { Tone } from '../labels/status.ts'

type Key = DomainKeys['keys'][number]

const STATES: Readonly<{ [S in Key['state']]: readonly [string, Tone] }> = {
  signing: ['Active', 'good'],
  published: ['Standby key', 'info'],
  retired: ['Retired', 'none'],
  revoked: ['Revoked', 'none'],
}
const NEXT: Readonly<Record<string, string>> = {
  revoke: 'revoked',
  replace: 'replaced',
}

export function DomainKeysCard({ id }: { id: string }) {
  const keys = useLoad<DomainKeys>(`/domains/${id}/keys`, { on: 'domain.' })
  const rotate = () =>
    confirm({
      title: 'Rotate the DKIM key?',
      text: 'The next key becomes active as soon as its DNS record is visible. You do not need to change your DNS.',
      act: 'Rotate key',
      harmless: true,
      async work() {
        keys.put(await call<DomainKeys>('POST', `/domains/${id}/rotate-keys`))
        say('Key rotation was requested.')
      },
    })
  return (
    <Card
      title="DKIM keys"
      acts={
        <Button small icon="again" onClick={rotate}>
          Rotate key
        </Button>
      }
    >
      {!keys.data && <Pending of={keys} />}
      {keys.data && (
        <div class="stack">
          <p class="quiet">
            Keys are rotated automatically
            {keys.data.rotation_due_at ? (
              <>
                , next <Time at={keys.data.rotation_due_at} />
              </>
            ) : (
              ', once the domain is verified'
            )}
            .
          </p>
          <ul class="stack stack-tight">
            {keys.data.keys.map(({ selector, algorithm, state, next_step }) => (
              <li key={selector} class="row row-apart">
                <span>
                  <span class="mono">{selector}</span>{' '}
                  <span class="quiet small">{algorithm === 'rsa-sha256' ? 'RSA' : 'Ed25519'}</span>
                  {next_step && NEXT[next_step.step] && (
                    <span class="quiet small">
                      {' '}
                      {NEXT[next_step.step]} <Time at={next_step.at} />
                    </span>
                  )}
                </span>
                <Mark tone={STATES[state][1]}>{STATES[state][0]}</Mark>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Card>
  )
}
