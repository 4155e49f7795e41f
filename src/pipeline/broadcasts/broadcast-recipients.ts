/** Lists the recipients of a broadcast with one kind of result, the newest first. */
import { sql } from 'kysely'
import { type Id, idKey } from '../../lib/ids.ts'
import { visibleSince } from '../../resources/emails/visible.ts'
import type { BroadcastRow, Db } from '../../store/model/schema.ts'
import { scanInChunks } from '../../store/reading/chunked-scan.ts'
import type { ListPage } from '../../store/reading/list-page.ts'

export const RECIPIENT_TYPES = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'suppressed',
] as const
export type RecipientType = (typeof RECIPIENT_TYPES)[number]

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
  page: ListPage
  /** Whether `total` is needed; counting reads the whole broadcast. */
  isCounted: boolean
}

export interface FoundRecipient {
  emailId: Id
  address: string
  /** Contact of the broadcast's audience; null when it has been deleted. */
  contactId: Id | null
  openCount: number
  clickCount: number
  /** Links that the recipient has followed, in the order of the HTML. */
  links: { url: string; clicks: number }[]
  /** Null when the email did not bounce. */
  bounceType: RecipientBounceType | null
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
  const { broadcast, page } = question
  if (!broadcast.firstEmailId) return { total: 0, hasMore: false, rows: [] }
  const { keys, matched, hasMore } = await scanInChunks(listing(db, question), page, !question.isCounted)
  return { total: matched, hasMore, rows: await recipientsOf(db, broadcast, keys) }
}

/** Scans the account's emails between the first and the last email of the broadcast. */
function listing(db: Db, { broadcast, horizon, type, address, bounceType }: RecipientQuestion) {
  const entries = () =>
    db
      .selectFrom('emails')
      .where('accountId', '=', broadcast.accountId)
      .where('id', '>=', broadcast.firstEmailId!)
      .where('id', '<=', broadcast.lastEmailId!)
  return {
    entries,
    key: 'id' as const,
    matching(those: ReturnType<typeof entries>) {
      let emails = those.where('broadcastId', '=', broadcast.id).where(visibleSince(horizon))
      if (type === 'opened') emails = emails.where('openCount', '>', 0)
      else if (type === 'clicked') emails = emails.where('clickCount', '>', 0)
      else emails = emails.where('status', 'in', STATUSES[type])
      if (address !== null) emails = emails.where('toList', '=', address)
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
    await contactsOf(db, { accountId, audienceId }, emails),
    await linksOf(db, broadcastId, ids),
    await bouncesOf(db, ids),
  ]
  return ids.flatMap(id => {
    const email = byId.get(idKey(id))
    if (!email) return []
    const address = email.toList!
    return {
      emailId: id,
      address,
      openCount: email.openCount,
      clickCount: email.clickCount,
      contactId: contacts.get(address) ?? null,
      links: links.get(idKey(id)) ?? [],
      bounceType: bounces.get(idKey(id)) ?? null,
    }
  })
}

async function contactsOf(
  db: Db,
  { accountId, audienceId }: { accountId: Id; audienceId: Id },
  emails: readonly { toList: string | null }[],
): Promise<ReadonlyMap<string, Id>> {
  const rows = await db
    .selectFrom('contacts')
    .select(['id', 'email'])
    .where('accountId', '=', accountId)
    .where('audienceId', '=', audienceId)
    .where(
      'email',
      'in',
      emails.map(({ toList }) => toList!),
    )
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
