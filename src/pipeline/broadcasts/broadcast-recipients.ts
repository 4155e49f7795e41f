/**
 * Lists the recipients of a broadcast with one kind of result, the newest first. Most results are those of
 * their emails; who was skipped or has unsubscribed is stored apart, see
 * `resources/events/broadcast-outcomes.ts`.
 */
import { sql } from 'kysely'
import { firstIdAt, type Id, idKey } from '../../lib/ids.ts'
import { visibleSince } from '../../resources/emails/visible.ts'
import type { BroadcastRow, Db, SkipReason } from '../../store/model/schema.ts'
import { scanInChunks } from '../../store/reading/chunked-scan.ts'
import type { ListPage } from '../../store/reading/list-page.ts'

const EMAIL_TYPES = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'suppressed'] as const
const OUTCOME_TYPES = ['unsubscribed', 'skipped'] as const
export const RECIPIENT_TYPES = [...EMAIL_TYPES, ...OUTCOME_TYPES] as const
export type RecipientType = (typeof RECIPIENT_TYPES)[number]
type OutcomeType = (typeof OUTCOME_TYPES)[number]
type EmailType = Exclude<RecipientType, OutcomeType>

/** Whether recipients of the type are listed without an email. */
export function isOutcome(type: RecipientType): type is OutcomeType {
  return (OUTCOME_TYPES as readonly RecipientType[]).includes(type)
}

export const BOUNCE_TYPES = ['Permanent', 'Transient', 'Undetermined'] as const
type RecipientBounceType = (typeof BOUNCE_TYPES)[number]

export interface RecipientQuestion {
  broadcast: Pick<BroadcastRow, 'accountId' | 'id' | 'audienceId' | 'firstEmailId' | 'lastEmailId'>
  /** Emails that ended at or before this time are not visible, in ms since the epoch. */
  horizon: number
  type: RecipientType
  /** Lower-case; null for any. */
  address: string | null
  /** Restricts bounced recipients; null for any. */
  bounceType: RecipientBounceType | null
  /** Restricts skipped recipients; null for any. */
  skipReason: SkipReason | null
  /** Number of the link that recipients have clicked; null for any. */
  link: number | null
  page: ListPage
  /** Whether `total` is needed; counting reads the whole broadcast. */
  isCounted: boolean
}

export interface FoundRecipient {
  /** Id of the email; of an outcome if the type is one. It was created at the time of the outcome. */
  id: Id
  /** Null if the contact of a skipped recipient had been deleted. */
  address: string | null
  /** Contact of the broadcast's audience; null when it has been deleted. */
  contactId: Id | null
  openCount: number
  clickCount: number
  /** Links that the recipient has followed, in the order of the HTML. */
  links: { url: string; clicks: number }[]
  /** Null when the email did not bounce. */
  bounceType: RecipientBounceType | null
  /** Null unless the recipient was skipped. */
  skipReason: SkipReason | null
}

export interface RecipientsFound {
  /** Meaningless unless the question asked for it. */
  total: number
  hasMore: boolean
  rows: FoundRecipient[]
}

/** Email statuses of each recipient type. */
const STATUSES = {
  sent: ['sent', 'delivery_delayed', 'delivered', 'bounced', 'complained'],
  delivered: ['delivered', 'complained'],
  bounced: ['bounced'],
  complained: ['complained'],
  suppressed: ['suppressed'],
} as const

export async function listRecipients(db: Db, question: RecipientQuestion): Promise<RecipientsFound> {
  const { broadcast, page, type } = question
  if (isOutcome(type)) return listOutcomes(db, { ...question, type })
  if (!broadcast.firstEmailId) return { total: 0, hasMore: false, rows: [] }
  const { keys, matched, hasMore } = await scanInChunks(
    emailListing(db, { ...question, type }),
    page,
    !question.isCounted,
  )
  return { total: matched, hasMore, rows: await recipientsOf(db, broadcast, keys) }
}

type Question<T extends RecipientType> = RecipientQuestion & { type: T }

/** Scans the account's emails between the first and the last email of the broadcast. */
function emailListing(db: Db, { broadcast, horizon, type, address, bounceType, link }: Question<EmailType>) {
  const entries = () => db.selectFrom('emails').where('accountId', '=', broadcast.accountId)
  return {
    entries,
    key: 'id' as const,
    range: { oldest: broadcast.firstEmailId!, newest: broadcast.lastEmailId! },
    matching(those: ReturnType<typeof entries>) {
      let emails = those.where('broadcastId', '=', broadcast.id).where(visibleSince(horizon))
      if (type === 'opened') emails = emails.where('openCount', '>', 0)
      else if (type === 'clicked') emails = emails.where('clickCount', '>', 0)
      else emails = emails.where('status', 'in', STATUSES[type])
      if (address !== null) emails = emails.where('toList', '=', address)
      if (link !== null)
        emails = emails.where(eb =>
          eb.exists(
            eb
              .selectFrom('visits')
              .select(sql.lit(1).as('one'))
              .whereRef('visits.emailId', '=', 'emails.id')
              .where('visits.link', '=', link)
              .where('visits.count', '>', 0),
          ),
        )
      if (bounceType === null) return emails
      return emails.where(eb =>
        eb.exists(
          eb
            .selectFrom('events')
            .select(sql.lit(1).as('one'))
            .whereRef('events.subjectId', '=', 'emails.id')
            .where('events.type', '=', 'email.bounced')
            .where('events.data', 'like', `{"bounce":{"type":"${bounceType}"%`),
        ),
      )
    },
  }
}

async function listOutcomes(db: Db, question: Question<OutcomeType>): Promise<RecipientsFound> {
  const { broadcast, page } = question
  const listing = outcomeListing(db, question)
  const { keys, matched, hasMore } = await scanInChunks(listing, page, !question.isCounted)
  if (keys.length === 0) return { total: matched, hasMore, rows: [] }
  const outcomes = await listing
    .entries()
    .select(['id', 'email', 'skipReason'])
    .where('id', 'in', keys)
    .orderBy('id', 'desc')
    .execute()
  const addresses = outcomes.flatMap(({ email }) => email ?? [])
  const contacts = await contactsOf(db, broadcast, addresses)
  const rows = outcomes.map(({ id, email, skipReason }) => ({
    ...{ id, address: email, contactId: contacts.get(email ?? '') ?? null, skipReason },
    ...{ openCount: 0, clickCount: 0, links: [], bounceType: null },
  }))
  return { total: matched, hasMore, rows }
}

function outcomeListing(db: Db, { broadcast, horizon, type, address, skipReason }: Question<OutcomeType>) {
  const entries = () =>
    db
      .selectFrom('broadcastOutcomes')
      .where('accountId', '=', broadcast.accountId)
      .where('broadcastId', '=', broadcast.id)
  return {
    entries,
    key: 'id' as const,
    matching(those: ReturnType<typeof entries>) {
      // behind the bounds of the chunk: of two lower bounds, SQLite seeks by the first
      let outcomes = those
        .where('id', '>=', firstIdAt(horizon))
        .where('skipReason', type === 'skipped' ? 'is not' : 'is', null)
      if (skipReason !== null) outcomes = outcomes.where('skipReason', '=', skipReason)
      return address === null ? outcomes : outcomes.where('email', '=', address)
    },
  }
}

/** Recipients in the order of the ids, without emails that have been deleted meanwhile. */
async function recipientsOf(
  db: Db,
  { accountId, id: broadcastId, audienceId }: RecipientQuestion['broadcast'],
  ids: readonly Id[],
): Promise<FoundRecipient[]> {
  if (ids.length === 0) return []
  const emails = await db
    .selectFrom('emails')
    .select(['id', 'toList', 'openCount', 'clickCount'])
    .where('accountId', '=', accountId)
    .where('id', 'in', ids)
    .execute()
  const byId = new Map(emails.map(email => [idKey(email.id), email]))
  const [contacts, links, bounces] = [
    await contactsOf(
      db,
      { accountId, audienceId },
      emails.map(({ toList }) => toList!),
    ),
    await linksOf(db, broadcastId, ids),
    await bouncesOf(db, ids),
  ]
  return ids.flatMap(id => {
    const email = byId.get(idKey(id))
    if (!email) return []
    const address = email.toList!
    return {
      id,
      address,
      openCount: email.openCount,
      clickCount: email.clickCount,
      contactId: contacts.get(address) ?? null,
      links: links.get(idKey(id)) ?? [],
      bounceType: bounces.get(idKey(id)) ?? null,
      skipReason: null,
    }
  })
}

async function contactsOf(
  db: Db,
  { accountId, audienceId }: { accountId: Id; audienceId: Id },
  addresses: readonly string[],
): Promise<ReadonlyMap<string, Id>> {
  if (addresses.length === 0) return new Map()
  const rows = await db
    .selectFrom('contacts')
    .select(['id', 'email'])
    .where('accountId', '=', accountId)
    .where('audienceId', '=', audienceId)
    .where('email', 'in', addresses)
    .execute()
  return new Map(rows.map(({ id, email }) => [email, id]))
}

async function linksOf(db: Db, broadcastId: Id, emailIds: readonly Id[]) {
  const rows = await db
    .selectFrom('visits')
    .leftJoin('broadcastLinks', join =>
      join
        .on('broadcastLinks.broadcastId', '=', broadcastId)
        .onRef('broadcastLinks.link', '=', 'visits.link'),
    )
    .select(['emailId', 'count as clicks'])
    .select(eb => eb.fn.coalesce('visits.url', 'broadcastLinks.url').as('url'))
    .where('emailId', 'in', emailIds)
    .where('visits.link', '>=', 0)
    .where('count', '>', 0)
    .orderBy('visits.link')
    .execute()
  const links = new Map<string, FoundRecipient['links']>()
  for (const [email, ofOne] of Map.groupBy(rows, ({ emailId }) => idKey(emailId)))
    links.set(
      email,
      ofOne.map(({ url, clicks }) => ({ url: url!, clicks })),
    )
  return links
}

async function bouncesOf(db: Db, emailIds: readonly Id[]): Promise<ReadonlyMap<string, RecipientBounceType>> {
  const rows = await db
    .selectFrom('events')
    .select(['subjectId', 'data'])
    .where('subjectId', 'in', emailIds)
    .where('type', '=', 'email.bounced')
    .execute()
  return new Map(
    rows.map(({ subjectId, data }) => [
      idKey(subjectId),
      (JSON.parse(data) as { bounce: { type: RecipientBounceType } }).bounce.type,
    ]),
  )
}
