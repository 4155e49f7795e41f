/**
 * The last step before a request is committed: what is to be fetched is fetched, and the emails get their
 * ids.
 */
import type { BlobReservation } from '../../store/blobs/reservations.ts'
import type { AcceptInput } from './commit.ts'
import type { OpenFetching } from './fetch-attachments.ts'
import { type NewEmailOptions, newEmailOf } from './new-email.ts'
import type { PreparedRequest } from './prepared.ts'
import { isRefusal, type Refusal, refuseAt } from './refusal.ts'
import type { Sender } from './submission.ts'

type CompleteRequest = Pick<AcceptInput, 'emails' | 'batch'>

/** @param reservation hears of every file that is fetched */
export async function resolveAttachments(
  options: NewEmailOptions & { openFetching: OpenFetching },
  sender: Sender,
  { emails, leftOut: leftOutBefore, mode, refusal }: PreparedRequest,
  reservation: BlobReservation,
): Promise<CompleteRequest | Refusal> {
  if (refusal) return refusal
  const complete: CompleteRequest['emails'] = []
  const indexes: number[] = []
  const leftOut = [...leftOutBefore]
  const fetching = options.openFetching(sender.accountId, reservation.add)
  try {
    for (const { index, email } of emails) {
      const whole = await fetching.complete(email)
      if (!isRefusal(whole)) {
        complete.push(newEmailOf(options, sender, whole))
        indexes.push(index)
      } else if (mode === 'permissive') leftOut.push({ index, message: whole.message })
      else return mode === null ? whole : refuseAt(index, whole)
    }
  } finally {
    fetching.end()
  }
  return { emails: complete, batch: mode === null ? null : { mode, indexes, leftOut } }
}
