/** The keys that sign a domain's mail, and when the next one takes its turn. */
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { DomainKeys } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { Failure, say, Waiting } from '../components/feedback.tsx'
import { Card, Mark, Time } from '../components/show.tsx'
import type { Tone } from '../labels/status.ts'

type Key = DomainKeys['keys'][number]

const STATES: Readonly<{ [S in Key['state']]: readonly [string, Tone] }> = {
  signing: ['Signs now', 'good'],
  published: ['Ready for its turn', 'info'],
  retired: ['Just retired', 'none'],
  revoked: ['Withdrawn', 'none'],
}
const NEXT: Readonly<Record<string, string>> = {
  may_sign: 'may sign',
  revoke: 'is withdrawn',
  replace: 'is replaced by a new one',
}

export function DomainKeysCard({ id }: { id: string }) {
  const keys = useLoad<DomainKeys>(`/domains/${id}/keys`)
  const rotate = () =>
    confirm({
      title: 'Change the key?',
      text: 'The next key takes its turn as soon as the world can see it. Nothing has to be changed in your DNS, and no mail is lost.',
      act: 'Change it',
      harmless: true,
      async work() {
        keys.put(await call<DomainKeys>('POST', `/domains/${id}/rotate-keys`))
        say('The next key takes its turn as soon as it may.')
      },
    })
  return (
    <Card
      title="Signing keys"
      acts={
        <Button small icon="again" onClick={rotate}>
          Change now
        </Button>
      }
    >
      {!keys.data && (keys.error ? <Failure error={keys.error} retry={keys.reload} /> : <Waiting />)}
      {keys.data && (
        <div class="stack">
          <p class="quiet">
            Keys change by themselves
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
                  {next_step && (
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
