/** Card of a domain whose name another account has verified: its claim, and the record that proves it. */
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Domain, DomainClaim } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { useAct } from '../components/dialog.tsx'
import { Failure, Note, say } from '../components/feedback.tsx'
import { Card } from '../components/show.tsx'
import { RecordBox } from './domain-records.tsx'

interface DomainClaimProps {
  domain: Domain
  /** Whether there is a claim. */
  isClaimed: boolean
  /** Called when the name has moved to this account. */
  onMoved: () => void
}

export function DomainClaimCard({ domain: { id, name }, isClaimed, onMoved }: DomainClaimProps) {
  const claim = useLoad<DomainClaim>(isClaimed ? `/domains/${id}/claim` : null)
  const start = useAct(async () => claim.put(await call<DomainClaim>('POST', '/domains/claim', { name })))
  const verify = useAct(async () => {
    const verified = await call<DomainClaim>('POST', `/domains/${id}/claim/verify`)
    claim.put(verified)
    if (verified.status !== 'completed') return
    say(`${name} now belongs to this account.`)
    onMoved()
  })
  const error = start.error ?? verify.error ?? claim.error
  const { data } = claim
  return (
    <Card title="This domain is verified in another account">
      <div class="stack">
        {error && <Failure error={error} act="The claim was not changed" />}
        {data ? (
          <>
            <RecordBox
              name="TXT of the claim"
              note="Add all records below first, and this one last. Once it is found, the other account can no longer send from the name."
              record={{ type: data.record.type, host: data.record.name, value: data.record.value }}
            />
            <ClaimState claim={data} />
            <div>
              <Button kind="main" disabled={verify.isBusy} onClick={() => void verify.run()}>
                {verify.isBusy ? 'Checking …' : 'Verify claim'}
              </Button>
            </div>
          </>
        ) : (
          <div>
            <Button disabled={start.isBusy} onClick={() => void start.run()}>
              Claim {name}
            </Button>
          </div>
        )}
      </div>
    </Card>
  )
}

function ClaimState({ claim: { status, failure_reason } }: { claim: DomainClaim }) {
  const text =
    status === 'blocked'
      ? 'Ownership confirmed. The other account has scheduled emails from this name: verify the claim again later, after 72 hours at most.'
      : status === 'expired'
        ? 'The claim has expired. Claim the name again under Domains.'
        : failure_reason
  if (!text) return null
  return (
    <Note tone="warn">
      <p>{text}</p>
    </Note>
  )
}
