/**
 * Accepts emails. In: a prepared request (`prepare.ts`) with its sender and idempotency token. Out: the ids
 * of the stored emails, whose deliveries are due, or a refusal that leaves nothing behind.
 *
 * `send()` answers a repeated request, fetches remote attachments, waits for room at the writer and runs the
 * command of `commit.ts`. The HTTP API, SMTP submission, broadcasts (test emails), replies, TLS reports and
 * webhook notices call it.
 */

import { FairSemaphore } from '../../lib/fair-semaphore.ts'
import { idKey } from '../../lib/ids.ts'
import { TooManyWaiting } from '../../lib/semaphore.ts'
import type { Plans } from '../../resources/accounts/plans.ts'
import type { LinkTermsIds } from '../../resources/emails/link-terms.ts'
import type { BlobReservation, BlobReservations } from '../../store/blobs/reservations.ts'
import { type Run, StorageUnavailable } from '../../store/model/command.ts'
import type { Find } from '../../store/reading/read.ts'
import type { ServiceMode } from '../queue/service-mode.ts'
import { type AcceptInput, type acceptCommands, weightOf } from './commit.ts'
import type { OpenFetching } from './fetch-attachments.ts'
import { createInFlightRequests } from './idempotency-in-flight.ts'
import { type NewEmailOptions, newEmailOf } from './new-email.ts'
import type { PreparedRequest } from './prepared.ts'
import { ACCOUNT_SUSPENDED, closedFor, isRefusal, type Refusal, refuseAt, refuseField } from './refusal.ts'
import type { NewEmail } from './store-emails.ts'
import type { Accepted, IdempotencyToken, Sender } from './submission.ts'
import { transferablesOf } from './transferables.ts'

export interface Accept {
  /**
   * Resolves once the emails are durably stored. A repeated request gets the answer to the first. Files that
   * were staged for a refused request are deleted.
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
  isSuspended: Plans['isSuspended']
  /** Mode of the service at present. */
  serviceMode: { current: ServiceMode }
  /** Terms of links under the base URL of the installation. */
  linkTerms(): Promise<LinkTermsIds>
}

export function createAccept(options: AcceptOptions): Accept {
  const { run, clock, reservations, feedbackRegions, quotaOf, isSuspended } = options
  const { once } = createInFlightRequests(options)
  const inFlight = createBackpressure()

  return {
    async send(sender, prepared, idempotency) {
      const reservation = reservations.open(prepared.blobs)
      const work = async (): Promise<Accepted | Refusal> => {
        const isTaken = sender.isService || sender.isReceived
        const closed = isTaken ? undefined : closedFor(options.serviceMode.current)
        if (closed) return closed
        if (!sender.isService && (await isSuspended(sender.accountId))) return ACCOUNT_SUSPENDED
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
 * Refuses a `from` domain that the sender's API key is not bound to, in every mode of a batch. This check
 * precedes the idempotency look-up, whose answer may belong to another credential. The name of a domain never
 * changes, so the check needs no transaction.
 */
function refuseForeign({ domain: own }: Sender, { senders, mode }: PreparedRequest): Refusal | undefined {
  const foreign = own === null ? undefined : senders.find(({ domain }) => domain !== own)
  if (!foreign) return undefined
  const refusal = refuseField(
    'foreign_domain',
    'from',
    `This API key is restricted to the domain ${own}: \`from\` must be an address at ${own}.`,
  )
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

/** In the weights of `weightOf()`. This is several group commits of the writer; one account gets half. */
const WEIGHT_MAX = 4_000
const ACCOUNT_WEIGHT_MAX = WEIGHT_MAX / 2
/** Number of waiting requests, in total and of one account. */
const WAITING_REQUESTS_MAX = { max: 400, maxPerOwner: 200 }

/** @throws StorageUnavailable when too many wait, and what the work throws */
type Backpressure = <T>(account: string, weight: number, work: () => Promise<T>) => Promise<T>

/**
 * Limits the amount of mail that the writer has been given and has not stored yet. Further requests wait
 * here, before they are copied to the writer; when too many wait, requests are refused.
 */
export function createBackpressure(): Backpressure {
  const room = new FairSemaphore(WEIGHT_MAX, ACCOUNT_WEIGHT_MAX, WAITING_REQUESTS_MAX)
  return (account, weight, work) =>
    room.run(account, work, Math.min(weight, ACCOUNT_WEIGHT_MAX)).catch(error => {
      throw error instanceof TooManyWaiting ? new StorageUnavailable('too much waits for the writer') : error
    })
}
