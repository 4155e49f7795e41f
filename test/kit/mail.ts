/** Accounts, domains and accepted emails in a store, in a line each. */

import type { Id } from '../../src/lib/ids.ts'
import { type Accept, createAccept } from '../../src/pipeline/accept/accept.ts'
import type { AcceptInput, acceptCommands } from '../../src/pipeline/accept/commit.ts'
import { createFetchAttachments } from '../../src/pipeline/accept/fetch-attachments.ts'
import { createPreparation, type Preparation } from '../../src/pipeline/accept/prepare.ts'
import type { BatchMode } from '../../src/pipeline/accept/prepared.ts'
import { isRefusal, type Refusal } from '../../src/pipeline/accept/refusal.ts'
import {
  type Accepted,
  type IdempotencyToken,
  type LeftOut,
  newSubmission,
  type Submission,
} from '../../src/pipeline/accept/submission.ts'
import type { Finish } from '../../src/pipeline/queue/commands.ts'
import { NORMAL_MODE } from '../../src/pipeline/queue/service-mode.ts'
import { type Mailbox, parseMailbox } from '../../src/protocols/smtp/address.ts'
import type { Plans } from '../../src/resources/accounts/plans.ts'
import { packRecord } from '../../src/resources/emails/attempt-record.ts'
import { createReadyTemplates } from '../../src/resources/templates/ready.ts'
import { createBlobReservations } from '../../src/store/blobs/reservations.ts'
import type { ClaimedDelivery, Run } from '../../src/store/model/command.ts'
import type { DomainStatus } from '../../src/store/model/schema.ts'
import type { ServiceCommands } from '../../src/workers/commands.ts'
import { insertRows } from './database.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { newId } from './new-id.ts'
import type { LocalStore } from './store.ts'

export const SIMULATOR = 'simulator.test'
/** Base URL of tracking links in emails. */
export const LINK_BASE_URL = 'https://links.test'
export const HOUR_MS = 3_600_000
export { newId }

export function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text)
  if ('fault' in parsed) throw new Error(`${text} ${parsed.fault}`)
  return parsed
}

export function submissionOf({
  from = 'Sender <sender@here.test>',
  to = ['rcpt@there.test'],
  cc = [],
  bcc = [],
  ...rest
}: Partial<Omit<Submission, 'from' | 'to' | 'cc' | 'bcc'>> & {
  from?: string
  to?: string[]
  cc?: string[]
  bcc?: string[]
} = {}): Submission {
  return newSubmission({
    from: mailbox(from),
    to: to.map(mailbox),
    cc: cc.map(mailbox),
    bcc: bcc.map(mailbox),
    subject: 'Hello',
    text: 'Hello there.',
    ...rest,
  })
}

/** Operations of the main path on one store, for tests that repeat them. */
export interface Post {
  clock: ManualClock
  accept: Accept
  preparation: Preparation
  account(name?: string): Id
  domain(accountId: Id, name: string, options?: { status?: DomainStatus; region?: string }): Id
  suppress(accountId: Id, address: string): void
  /** A broadcast that was sent, without emails. */
  broadcast(accountId: Id, audienceId: Id): Id
  /** Accepts an email and returns its id. @throws when it is refused */
  send(accountId: Id, submission?: Parameters<typeof submissionOf>[0]): Promise<Id>
  /** Accepts an email or refuses it. */
  submit(
    accountId: Id,
    submission?: Parameters<typeof submissionOf>[0],
    idempotency?: IdempotencyToken | null,
  ): Promise<Accepted | Refusal>
  /** Accepts a batch or refuses it. */
  submitBatch(
    accountId: Id,
    submissions: Parameters<typeof submissionOf>[0][],
    over?: { mode?: BatchMode; firstIndex?: number; leftOut?: LeftOut[] },
  ): Promise<Accepted | Refusal>
  /** The same as a request for a group. */
  request(
    accountId: Id,
    submission?: Parameters<typeof submissionOf>[0],
    idempotency?: IdempotencyToken | null,
  ): Promise<{ name: 'accept'; input: AcceptInput }>
  /** Leases what is due for a domain. */
  claim(
    accountId: Id,
    domain?: string,
    options?: { limit?: number; class?: number; owner?: string },
  ): Promise<ClaimedDelivery[]>
}

export function postOver(
  store: Pick<LocalStore<ServiceCommands>, 'run' | 'db' | 'find' | 'blobs' | 'change'>,
  {
    clock = createManualClock(),
    feedbackRegions = ['us-west-2'],
    quotaOf = async () => null,
  }: { clock?: ManualClock; feedbackRegions?: string[]; quotaOf?: Plans['quotaOf'] } = {},
): Post {
  const options = {
    reservations: createBlobReservations({
      blobs: store.blobs,
      db: store.db,
      onLeftBehind(error) {
        throw error
      },
    }),
    openFetching: createFetchAttachments({ outbound: null, clock, blobs: store.blobs }),
    find: store.find,
    clock,
    newId,
    simulatorDomains: new Set([SIMULATOR]),
    feedbackRegions,
    quotaOf,
    isSuspended: async () => false,
    serviceMode: { current: NORMAL_MODE },
    expireAfterMs: 48 * HOUR_MS,
    linkTerms: () => store.run('linkTerms', { baseUrl: LINK_BASE_URL }),
  }
  const accept = createAccept({ ...options, run: store.run })
  const preparation = createPreparation({
    findTemplate: createReadyTemplates(store.find),
    blobs: store.blobs,
  })
  const submit: Post['submit'] = async (accountId, submission, idempotency = null) => {
    const prepared = await preparation.email(accountId, submissionOf(submission))
    return accept.send({ accountId, apiKeyId: null, domain: null }, prepared, idempotency)
  }
  return {
    clock,
    accept,
    preparation,
    submit,
    async submitBatch(accountId, submissions, { mode = 'strict', firstIndex = 0, leftOut = [] } = {}) {
      const emails = submissions.map((submission, i) => ({
        index: firstIndex + i,
        submission: submissionOf(submission),
      }))
      const prepared = await preparation.batch(accountId, { mode, emails, leftOut })
      return accept.send({ accountId, apiKeyId: null, domain: null }, prepared, null)
    },
    account(name = 'Main') {
      const id = newId(clock.now())
      store.change(
        'insert into accounts (id, name, plan, created_at) values (?, ?, ?, ?)',
        id,
        name,
        'scale',
        clock.now(),
      )
      return id
    },
    domain(accountId, name, { status = 'verified', region = 'us-west-2' } = {}) {
      const id = newId(clock.now())
      store.change(
        `insert into domains (id, account_id, name, region, status, verification_token, open_tracking,
             click_tracking, receiving, created_at) values (?, ?, ?, ?, ?, 'token', 0, 0, 1, ?)`,
        id,
        accountId,
        name,
        region,
        status,
        clock.now(),
      )
      return id
    },
    suppress(accountId, address) {
      store.change(
        'insert into suppressions (account_id, email, id, reason, created_at) values (?, ?, ?, ?, ?)',
        accountId,
        address.toLowerCase(),
        newId(clock.now()),
        'manual',
        clock.now(),
      )
      store.change(
        `insert into counters (account_id, kind, period, count) values (?, 'suppressions.manual', '', 1)
           on conflict (account_id, kind, period) do update set count = counters.count + 1`,
        accountId,
      )
    },
    broadcast(accountId, audienceId) {
      const [id, at] = [newId(clock.now()), clock.now()]
      insertRows(store, 'broadcasts', [
        {
          ...{ account_id: accountId, id, audience_id: audienceId, name: '', folded_name: '', subject: '' },
          ...{ sender: '[{"name":"Ann","address":"ann@here.test"}]', content_id: 0, status: 'sent' },
          ...{ created_at: at, updated_at: at, member_count: 0, expanded_count: 0 },
        },
      ])
      return id
    },
    async send(accountId, submission) {
      const accepted = await submit(accountId, submission)
      if (isRefusal(accepted)) throw new Error(`refused: ${accepted.message}`)
      return accepted.ids[0]!
    },
    async request(accountId, submission, idempotency = null) {
      const { promise, resolve } = Promise.withResolvers<AcceptInput>()
      const run = async (_: string, input: AcceptInput) => {
        resolve(input)
        return { ids: [], leftOut: [] }
      }
      await createAccept({ ...options, run: run as Run<typeof acceptCommands> }).send(
        { accountId, apiKeyId: null, domain: null },
        await preparation.email(accountId, submissionOf(submission)),
        idempotency,
      )
      return { name: 'accept', input: await promise }
    },
    async claim(accountId, domain = 'there.test', options = {}) {
      const { limit = 100, class: deliveryClass = 0, owner = 'tester' } = options
      const [claim] = await store.run('claim', {
        queueKeys: [{ domain, class: deliveryClass, accountId, limit }],
        owner,
        now: clock.now(),
        leaseUntil: clock.now() + 900_000,
      })
      return claim!.deliveries
    },
  }
}

/** The end of an attempt as the delivery worker reports it; delivered, unless told otherwise. */
export function finishFor(delivery: ClaimedDelivery, at: number, over: Partial<Finish> = {}): Finish {
  const { accountId, emailId, ordinal, attempt, address, domain } = delivery
  return {
    accountId,
    emailId,
    ordinal,
    attempt,
    address,
    domain,
    startedAt: at - 100,
    finishedAt: at,
    handedOverAt: at - 100,
    status: 'delivered',
    outcome: 'delivered',
    nextAt: null,
    event: { type: 'email.delivered', data: { delivery: {} } },
    error: null,
    cause: null,
    suppress: false,
    signedAt: null,
    signatures: null,
    proof: null,
    record: {
      ...{ reply: '250 taken', mxHost: 'mx.there.test', brokeOff: null },
      packed: packRecord({
        ...{ phase: 'final-dot', reply: '250 taken', mxHost: 'mx.there.test', mxIp: '192.0.2.1' },
        ...{ tls: null, transcript: null },
      }),
    },
    ...over,
  }
}

export const endings = {
  deferred: (at: number, waitMs = 60_000): Partial<Finish> => ({
    status: 'delivery_delayed',
    outcome: 'deferred',
    nextAt: at + waitMs,
    event: { type: 'email.delivery_delayed', data: { delay: {} } },
  }),
  bounced: (error = '550 5.1.1 no such user (mx.there.test)'): Partial<Finish> => ({
    status: 'bounced',
    outcome: 'bounced',
    event: { type: 'email.bounced', data: { bounce: {} } },
    error,
  }),
  failed: (error = 'expired after 48 h: 451 later'): Partial<Finish> => ({
    status: 'failed',
    outcome: 'deferred',
    event: { type: 'email.failed', data: { failed: {} } },
    error,
  }),
}
