/** The one door: what a user submits becomes stored emails and due deliveries, or a refusal and no change. */

import { idKey } from '../../lib/ids.ts'
import type { Plans } from '../../resources/accounts/plans.ts'
import type { LinkTermsIds } from '../../resources/emails/link-terms.ts'
import type { BlobReservation, BlobReservations } from '../../store/blobs/reservations.ts'
import type { Run } from '../../store/command.ts'
import type { Find } from '../../store/read.ts'
import { createBackpressure } from './backpressure.ts'
import { type AcceptInput, type acceptCommands, weightOf } from './commit.ts'
import type { OpenFetching } from './fetch-attachments.ts'
import { createInFlightRequests } from './idempotency-in-flight.ts'
import { type NewEmailOptions, newEmailOf } from './new-email.ts'
import type { PreparedRequest } from './prepared.ts'
import { isRefusal, type Refusal, refuseAt, refuseField } from './refusal.ts'
import type { NewEmail } from './store-emails.ts'
import type { Accepted, IdempotencyToken, Sender } from './submission.ts'
import { transferablesOf } from './transferables.ts'

export interface Accept {
  /**
   * Resolves once the emails are durably stored; a repeated request is answered as its first was. Nothing
   * that was staged for a request that is refused stays behind.
   * @throws StorageUnavailable
   */
  send(
    sender: Sender,
    prepared: PreparedRequest,
    idempotency: IdempotencyToken | null,
  ): Promise<Accepted | Refusal>
}

interface AcceptOptions extends NewEmailOptions {
  run: Run<typeof acceptCommands>
  find: Find
  reservations: BlobReservations
  openFetching: OpenFetching
  feedbackRegions: string[]
  quotaOf: Plans['quotaOf']
  /** Known once the address of our links is. */
  linkTerms(): Promise<LinkTermsIds>
}

export function createAccept(options: AcceptOptions): Accept {
  const { run, clock, reservations, feedbackRegions, quotaOf } = options
  const { once } = createInFlightRequests(options)
  const inFlight = createBackpressure()

  return {
    async send(sender, prepared, idempotency) {
      const reservation = reservations.open(prepared.blobs)
      const work = async (): Promise<Accepted | Refusal> => {
        const request = await newEmailsOf(options, sender, prepared, reservation)
        if (isRefusal(request)) return request
        const blobs = request.emails.flatMap(email => email.blobs)
        await reservation.place(blobs)
        const quota = sender.isService ? null : await quotaOf(sender.accountId)
        const input: AcceptInput = {
          sender,
          idempotency,
          ...request,
          now: clock.now(),
          feedbackRegions,
          quota,
          linkTerms: await options.linkTerms(),
        }
        const contents = request.emails.map(({ content }) => content)
        return inFlight(idKey(sender.accountId), weightOf(input), () =>
          run('accept', input, transferablesOf(contents, blobs)),
        )
      }
      let isSettled = false
      try {
        const answer = refuseForeign(sender, prepared) ?? (await once(sender, idempotency, work))
        isSettled = true
        return answer
      } finally {
        await reservation.end(isSettled)
      }
    },
  }
}

/**
 * Asked before any former answer is given, which may be another credential's, and in every mode of a batch. A
 * domain's name never changes, and so no race gets past the sender's bond to one.
 */
function refuseForeign({ domain: own }: Sender, { senders, mode }: PreparedRequest): Refusal | undefined {
  const foreign = own === null ? undefined : senders.find(({ domain }) => domain !== own)
  if (!foreign) return undefined
  const refusal = refuseField('foreign_domain', 'from', `This API key may send \`from\` ${own} only.`)
  return mode === null ? refusal : refuseAt(foreign.index, refusal)
}

/**
 * Fetches remote attachments and gives the emails their ids.
 * @param reservation is told of every file that is fetched
 */
async function newEmailsOf(
  options: AcceptOptions,
  sender: Sender,
  { emails, leftOut: leftOutBefore, mode, refusal }: PreparedRequest,
  reservation: BlobReservation,
): Promise<Pick<AcceptInput, 'emails' | 'batch'> | Refusal> {
  if (refusal) return refusal
  const complete: NewEmail[] = []
  const indexes: number[] = []
  const leftOut = [...leftOutBefore]
  const fetching = options.openFetching(sender.accountId, reservation.add)
  try {
    for (const { index, email } of emails) {
      const attachments = await fetching.attachmentsOf(email)
      if (!isRefusal(attachments)) {
        complete.push(newEmailOf(options, sender, email, attachments))
        indexes.push(index)
      } else if (mode === 'permissive') leftOut.push({ index, message: attachments.message })
      else return mode === null ? attachments : refuseAt(index, attachments)
    }
  } finally {
    fetching.end()
  }
  return { emails: complete, batch: mode === null ? null : { mode, indexes, leftOut } }
}
