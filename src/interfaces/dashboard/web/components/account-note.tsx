/** A note on every page while the account of the user is suspended. */
import { useLoad } from '../api/load.ts'
import type { Account } from '../api/types.ts'
import { Note } from './feedback.tsx'

const CALM_MS = 60_000

export function AccountNote() {
  const { data } = useLoad<Account>('/account', { everyMs: CALM_MS })
  if (!data?.suspended_at) return null
  return (
    <Note tone="bad" isNews>
      <p>
        <b>Your account is suspended.</b> New email is refused. Contact the operator of this installation.
      </p>
    </Note>
  )
}
