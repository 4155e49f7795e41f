/** An account with an audience in a store, and broadcasts to it whose steps a test takes itself. */

import type { Id } from '../../../../src/lib/ids.ts'
import { createAccept } from '../../../../src/pipeline/accept/accept.ts'
import { createFetchAttachments } from '../../../../src/pipeline/accept/fetch-attachments.ts'
import { createPreparation } from '../../../../src/pipeline/accept/prepare.ts'
import { isRefusal, type Refusal } from '../../../../src/pipeline/accept/refusal.ts'
import { findDueBroadcast } from '../../../../src/pipeline/broadcasts/broadcast-rows.ts'
import { type BroadcastDetail, Broadcasts } from '../../../../src/pipeline/broadcasts/broadcasts.ts'
import type { BroadcastFields } from '../../../../src/pipeline/broadcasts/draft.ts'
import { expandCommandsWith, QUEUED_EMAILS_SLOW_MIN } from '../../../../src/pipeline/broadcasts/expand.ts'
import { linkFault } from '../../../../src/pipeline/broadcasts/link-base.ts'
import { type RunnerOptions, takeStep } from '../../../../src/pipeline/broadcasts/runner.ts'
import { mailOfBroadcast } from '../../../../src/pipeline/broadcasts/send.ts'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import { NORMAL_MODE } from '../../../../src/pipeline/queue/service-mode.ts'
import type { Quota } from '../../../../src/resources/accounts/plans.ts'
import type { SegmentFilter } from '../../../../src/resources/contacts/filters.ts'
import { createReadyTemplates } from '../../../../src/resources/templates/ready.ts'
import { createBlobReservations } from '../../../../src/store/blobs/reservations.ts'
import type { BroadcastRow } from '../../../../src/store/model/schema.ts'
import { commands } from '../../../../src/workers/commands.ts'
import { insertRows } from '../../../kit/database.ts'
import { HOUR_MS, LINK_BASE_URL, newId, postOver, SIMULATOR } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import type { TestContext } from '../../../kit/suite.ts'

export interface SceneContact {
  email: string
  firstName?: string
  lastName?: string
  unsubscribed?: boolean
  properties?: Record<string, string | number | boolean>
}

interface SceneOptions {
  quota?: Quota | null
  slowFrom?: number
  linkBase?: string
}

export async function openBroadcasts(
  t: TestContext,
  { quota = null, slowFrom = QUEUED_EMAILS_SLOW_MIN, linkBase = LINK_BASE_URL }: SceneOptions = {},
) {
  const store = await t.using(openLocalStore({ ...commands, ...expandCommandsWith(slowFrom) }))
  const post = postOver(store)
  const { clock } = post
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const audienceId = newId(clock.now())
  insertRows(store, 'audiences', [
    {
      ...{ account_id: accountId, id: audienceId, name: 'all', contact_count: 0, unsubscribed_count: 0 },
      created_at: clock.now(),
    },
  ])
  const queueAdmin = createQueueAdmin({ ...store, clock, newId })
  let goingOn: Promise<void> = Promise.resolve()
  const resumeEmails = (broadcast: Pick<BroadcastRow, 'accountId' | 'id'>) => {
    goingOn = goingOn.then(() => queueAdmin.resume(mailOfBroadcast(broadcast)))
  }
  const quotaOf = async () => quota
  const terms = {
    ...{
      clock,
      newId,
      quotaOf,
      isSuspended: async () => false,
      serviceMode: { current: NORMAL_MODE },
      simulatorDomains: new Set([SIMULATOR]),
      feedbackRegions: ['us-west-2'],
    },
    expireAfterMs: 48 * HOUR_MS,
  }
  const onError = (error: unknown) => {
    throw error
  }
  const reservations = createBlobReservations({ ...store, onLeftBehind: onError })
  const linkTerms = await store.run('linkTerms', { baseUrl: LINK_BASE_URL })
  const broadcasts = new Broadcasts({
    ...{ ...store, clock, newId, reservations, resumeEmails, simulatorDomains: terms.simulatorDomains },
    linkBase: { url: linkBase, setting: 'http.base_url' },
    accept: createAccept({
      ...{ ...store, ...terms },
      reservations,
      linkTerms: async () => linkTerms,
      openFetching: createFetchAttachments({ outbound: null, clock, blobs: store.blobs }),
    }),
    preparation: createPreparation({
      findTemplate: createReadyTemplates(store.find),
      blobs: store.blobs,
    }),
  })
  const fault = linkFault({ url: linkBase, setting: 'http.base_url' }) ?? null
  const runner: RunnerOptions = { ...store, ...terms, linkTerms, linkFault: fault, resumeEmails, onError }

  const draft = (over: Partial<BroadcastFields> = {}): BroadcastFields => ({
    ...{ name: 'News', audienceId, segmentId: null, topicId: null, templateId: null },
    sender: '[{"name":"Ann","address":"ann@here.test"}]',
    ...{
      replyToList: null,
      subject: 'Hello',
      previewText: null,
      noUnsubscribeReason: null,
      emailsPerHour: null,
    },
    ...{ html: null, text: 'Hello there.' },
    ...over,
  })
  const taken = <T>(answer: T | Refusal | undefined): T => {
    if (answer === undefined || isRefusal(answer)) throw new Error(JSON.stringify(answer))
    return answer
  }

  return {
    ...{ ...store, ...post, accountId, audienceId, broadcasts, reservations, runner, draft, taken },
    /** Contacts of the audience, in this order, a millisecond apart; their ids. */
    contacts(contacts: readonly SceneContact[]): Id[] {
      const rows = contacts.map(contact => {
        clock.advance(1)
        return contactRow(accountId, audienceId, clock.now(), contact)
      })
      insertRows(store, 'contacts', rows)
      return rows.map(({ id }) => id)
    },
    segment(filters: readonly SegmentFilter[]): Id {
      const id = newId(clock.now())
      insertRows(store, 'segments', [
        {
          ...{ account_id: accountId, audience_id: audienceId, id, name: 'some' },
          ...{ filters: JSON.stringify(filters), created_at: clock.now(), updated_at: clock.now() },
        },
      ])
      return id
    },
    topic(defaultSubscription: 'opt_in' | 'opt_out' = 'opt_in'): Id {
      const id = newId(clock.now())
      insertRows(store, 'topics', [
        {
          ...{ account_id: accountId, id, name: 'weekly', description: null },
          ...{ default_subscription: defaultSubscription, created_at: clock.now(), updated_at: clock.now() },
        },
      ])
      return id
    },
    say(contactId: Id, topicId: Id, subscribed: 0 | 1) {
      const row = { contact_id: contactId, topic_id: topicId, subscribed, changed_at: clock.now() }
      insertRows(store, 'contact_topics', [row])
    },
    /** A broadcast that has been ordered to be sent; its id. */
    async sending(over: Partial<BroadcastFields> = {}, at: number | null = null): Promise<Id> {
      return taken(await broadcasts.create(accountId, { ...draft(over), by: null }, { at })).broadcast.id
    },
    /** Takes steps that are due, at most so many; how many there were. */
    async work(max = 1_000, over: Partial<RunnerOptions> = {}): Promise<number> {
      let steps = 0
      for (; steps < max; steps++) {
        const { due } = await findDueBroadcast(store.db, clock.now())
        if (!due) break
        await takeStep({ ...runner, ...over }, due, clock.now())
      }
      await goingOn
      return steps
    },
    settled: () => goingOn,
    async detail(id: Id): Promise<BroadcastDetail> {
      return (await broadcasts.find(accountId, id))!
    },
    /** Counters that are not 0. */
    async counts(id: Id): Promise<Record<string, number>> {
      const { counts } = (await broadcasts.find(accountId, id))!
      return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))
    },
    /** To whom there are emails, with all of them. */
    addresses: () =>
      store
        .rows<{ address: string }>('select address from deliveries order by email_id')
        .map(({ address }) => address),
  }
}

function contactRow(accountId: Id, audienceId: Id, at: number, contact: SceneContact) {
  const { email, firstName = null, lastName = null, unsubscribed = false, properties = {} } = contact
  return {
    ...{ account_id: accountId, audience_id: audienceId, id: newId(at), email, folded_email: email },
    ...{ first_name: firstName, folded_first_name: firstName?.toLowerCase() ?? null },
    ...{ last_name: lastName, folded_last_name: lastName?.toLowerCase() ?? null },
    ...{ unsubscribed: unsubscribed ? 1 : 0, properties: JSON.stringify(properties) },
    ...{ created_at: at, updated_at: at },
  }
}

/** So many contacts of some domains. */
export function manyContacts(count: number, domains = ['there.test', 'far.test']): SceneContact[] {
  return Array.from({ length: count }, (_, i) => ({ email: `c${i}@${domains[i % domains.length]}` }))
}
