/**
 * Delivered emails in great numbers, put straight into a database as an account has them after some months.
 */
import Database from 'better-sqlite3'
import { createIdSource, type Id, wireId } from '../../src/lib/ids.ts'
import type { EmailStatus } from '../../src/store/model/schema.ts'

const DAY_MS = 86_400_000
/** Less than the plan keeps. */
const SPREAD_MS = 80 * DAY_MS
const SENDER_DOMAINS = ['shop.example', 'news.example', 'billing.example', 'login.example', 'forum.example']
const PER_SENDER_DOMAIN = 4
const RECIPIENTS = 200_000
const BROADCASTS = 50
const SUBJECTS = [
  'Your order {n} is on its way',
  'Invoice {n} of this month',
  'Sign in to your account: {n}',
  'New replies in topic {n}',
  'We miss you, customer {n}',
  'Réservation {n} confirmée',
  'Your parcel {n} could not be delivered',
  'Weekly summary {n}',
]
const RARE_STATUSES: EmailStatus[] = ['sent', 'bounced', 'complained', 'failed']
const TAGS = ['category', 'campaign', 'tenant']
const TAG_VALUES = 40

/** Values to search for, with many, few or one result; `i` varies the query. */
export interface ManyEmails {
  statuses: readonly EmailStatus[]
  domain(i: number): string
  sender(i: number): string
  recipient(i: number): string
  tag(i: number): string
  broadcastId(i: number): string
  /** Part of very many subjects. */
  frequentWord(i: number): string
  /** Part of very few. */
  rareWord(i: number): string
  /** ISO 8601, so many hundredths into the time they came in. */
  time(hundredths: number): string
}

/** Puts `count` emails into the only account of a service that is idle. */
export function addManyEmails(file: string, count: number): ManyEmails {
  const newId = createIdSource()
  const end = Date.now() - DAY_MS / 24
  const broadcasts = Array.from({ length: BROADCASTS }, (_, i) => newId(end - SPREAD_MS + i))
  const timeOf = (i: number) => Math.floor(end - SPREAD_MS + (i * SPREAD_MS) / count)
  const database = new Database(file, { timeout: 10_000 })
  database.pragma('synchronous = OFF')
  const { accountId } = database.prepare('select id as "accountId" from accounts').get() as { accountId: Id }
  const insert = database.prepare(
    `insert into emails (account_id, id, sender, to_list, subject, content_id, tags, message_id, status,
       recipient_count, feedback, created_at, sent_at, last_event_at, ended_at, broadcast_id)
     values (?, ?, ?, ?, ?, 0, ?, ?, ?, 1, 1, ?, ?, ?, ?, ?)`,
  )
  database.transaction(() => {
    for (let i = 0; i < count; i++) {
      const at = timeOf(i)
      const to = JSON.stringify([{ address: recipientOf(scattered(i, RECIPIENTS)) }])
      insert.run(
        accountId,
        newId(at),
        JSON.stringify([{ name: 'Somebody', address: senderOf(scattered(i, 1_000)) }]),
        to,
        SUBJECTS[scattered(i, SUBJECTS.length)]!.replace('{n}', String(100_000 + i)),
        JSON.stringify([{ name: TAGS[i % TAGS.length], value: `v${scattered(i, TAG_VALUES)}` }]),
        `<${i}@shop.example>`,
        statusOf(i),
        at,
        at,
        at + 1_000,
        at + 1_000,
        i % 3 === 0 ? broadcasts[scattered(i, BROADCASTS)]! : null,
      )
    }
  })()
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
  return {
    statuses: [...new Set(Array.from({ length: 1_000 }, (_, i) => statusOf(i)))],
    domain: i => SENDER_DOMAINS[i % SENDER_DOMAINS.length]!,
    sender: senderOf,
    recipient: i => recipientOf(scattered(i, RECIPIENTS)),
    tag: i => `${TAGS[i % TAGS.length]}${i % 2 === 0 ? `:v${scattered(i, TAG_VALUES)}` : ''}`,
    broadcastId: i => wireId('brd', broadcasts[i % BROADCASTS]!),
    frequentWord: i => ['order', 'INVOICE', 'réservation', 'you', 'parcel'][i % 5]!,
    rareWord: i => String(100_000 + scattered(i, count)),
    time: hundredths => new Date(timeOf((count * hundredths) / 100)).toISOString(),
  }
}

function statusOf(i: number): EmailStatus {
  const place = scattered(i, 1_000)
  return place < 950 ? 'delivered' : RARE_STATUSES[place % RARE_STATUSES.length]!
}

function senderOf(i: number): string {
  const domain = SENDER_DOMAINS[i % SENDER_DOMAINS.length]!
  return `sender-${Math.floor(i / SENDER_DOMAINS.length) % PER_SENDER_DOMAIN}@${domain}`
}

function recipientOf(i: number): string {
  return `customer-${i}@inbox-${i % 300}.example`
}

/** A number below `below` that looks like chance and is the same in every run. */
function scattered(i: number, below: number): number {
  return (Math.imul(i + 1, 2_654_435_761) >>> 5) % below
}
