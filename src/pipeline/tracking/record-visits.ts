/**
 * Records opens and clicks in one transaction: events, and the counts of email, account and broadcast. A
 * recipient's visits to one link make one row and a limited number of events; further visits are only
 * counted.
 */

import { type Id, sameId } from '../../lib/ids.ts'
import { noteActivity } from '../../resources/events/contact-activity.ts'
import { countEvent, type EmailOrigin } from '../../resources/events/metrics.ts'
import { type NewEvent, recordEvents } from '../../resources/events/record.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { DeliveryRow, VisitRow } from '../../store/model/schema.ts'
import type { Visitor } from './bot-detection.ts'
import { isByUrl, LINK_NUMBER_MAX } from './link-numbers.ts'
import type { TokenRecipient } from './tokens.ts'

/** A request for a pixel or a link. */
export interface Hit {
  at: number
  visitor: Visitor
}

/** The requests of one recipient for one link within a batch. */
export interface VisitEntry {
  recipient: TokenRecipient
  /** Link number; -1 for the pixel. See `numberOfUrl` for links without an index. */
  link: number
  /** Null for the pixel. */
  url: string | null
  hits: Hit[]
  /** Number of further requests by people. */
  more: number
  /** Number of further requests by machines. */
  moreMachines: number
  /** Time of the last request, in ms since the epoch. */
  lastAt: number
  /** Whether the recipient followed several links within seconds, which a machine does. */
  isBurst?: boolean
}

/** Number of events for a recipient's visits to one link; further visits are only counted. */
const EVENTS_MAX = 20
const MACHINE_EVENTS_MAX = 3
/** Number of rows of a broadcast for links that are numbered by URL. */
const URL_LINKS_MAX = 1_000
/** A request sooner after the delivery comes from a mail filter, not from a reader. */
const READER_DELAY_MS_MIN = 1_000

export const visitCommands = {
  recordVisits: command<{ visits: VisitEntry[] }, void>(
    async (tx, { visits }) => {
      for (const visit of visits) await recordVisit(tx, visit)
    },
    { weigh: ({ visits }) => visits.length },
  ),
}

type Delivery = Pick<DeliveryRow, 'address' | 'status' | 'lastAttemptAt'>

/** Does nothing if the email has been deleted. */
async function recordVisit(tx: Tx, entry: VisitEntry): Promise<void> {
  const { recipient, link } = entry
  const { accountId, emailId, ordinal } = recipient
  const [delivery] = await tx.rows.find(
    'deliveries',
    [{ emailId, ordinal }],
    ['accountId', 'address', 'status', 'lastAttemptAt', 'simulated'],
  )
  const [email] = await tx.rows.find('emails', [{ accountId, id: emailId }], ['domainId', 'broadcastId'])
  if (!delivery || !email || !sameId(delivery.accountId, accountId)) return
  const [former] = await tx.rows.lock(
    'visits',
    [{ emailId, ordinal, link }],
    ['count', 'machineCount', 'firstAt', 'lastAt'],
  )
  const judged = judge(entry, delivery)
  const isFirst = judged.people > 0 && !(await hasVisited(tx, entry, former))
  const events = eventsOf(entry, judged, delivery, former)
  await recordEvents(tx, events)
  if (judged.people > 0) {
    const type = typeOf(entry)
    const counted = { accountId, type, data: {}, at: entry.lastAt, times: judged.people }
    countEvent(tx, { ...counted, isRepeated: !isFirst }, { ...email, simulated: delivery.simulated })
    const time = link < 0 ? 'lastOpenedAt' : 'lastClickedAt'
    await noteActivity(tx, time, [{ accountId, address: delivery.address, at: entry.lastAt }])
  }
  if (judged.people > 0 || events.length > 0) await addToEmail(tx, entry, judged.people)
  const sharedUrl = link >= 0 ? await writeBroadcastLink(tx, entry, email, judged, former) : null
  await writeVisit(tx, entry, judged, former, sharedUrl)
}

function typeOf({ link }: VisitEntry) {
  return link < 0 ? ('email.opened' as const) : ('email.clicked' as const)
}

interface Judged {
  hits: (Hit & { machine: string | null })[]
  people: number
  machines: number
}

function judge({ hits, more, moreMachines, lastAt, isBurst }: VisitEntry, delivery: Delivery): Judged {
  const machineAt = (at: number) => {
    const deliveredAt = delivery.lastAttemptAt ?? 0
    if (delivery.status === 'queued' || at < deliveredAt) return 'before-delivery'
    if (at < deliveredAt + READER_DELAY_MS_MIN) return 'too-soon'
    return isBurst ? 'burst' : null
  }
  const judged = hits.map(hit => ({ ...hit, machine: hit.visitor.machine ?? machineAt(hit.at) }))
  const people = judged.filter(({ machine }) => machine === null).length
  const morePeople = machineAt(lastAt) === null ? more : 0
  return {
    hits: judged,
    people: people + morePeople,
    machines: judged.length - people + moreMachines + more - morePeople,
  }
}

type Former = Pick<VisitRow, 'count' | 'machineCount' | 'firstAt' | 'lastAt'> | undefined

/** Whether the recipient has opened the email before, or followed any of its links. */
async function hasVisited(tx: Tx, { recipient, link }: VisitEntry, former: Former): Promise<boolean> {
  if (former && former.count > 0) return true
  if (link < 0) return false
  const other = await tx.db
    .selectFrom('visits')
    .select('link')
    .where('emailId', '=', recipient.emailId)
    .where('ordinal', '=', recipient.ordinal)
    .where('link', '>=', 0)
    .where('count', '>', 0)
    .limit(1)
    .executeTakeFirst()
  return other !== undefined
}

/** Events up to the limit; visits are counted separately. */
function eventsOf(entry: VisitEntry, { hits }: Judged, { address }: Delivery, former: Former): NewEvent[] {
  const { accountId, emailId: subjectId } = entry.recipient
  let people = former?.count ?? 0
  let machines = former?.machineCount ?? 0
  return hits.flatMap(({ at, visitor, machine }) => {
    const isReported = machine === null ? people++ < EVENTS_MAX : machines++ < MACHINE_EVENTS_MAX
    if (!isReported) return []
    const who = { ip_address: visitor.ipAddress, user_agent: visitor.userAgent }
    const marks = { machine, proxy: visitor.proxy }
    const data =
      entry.link < 0 ? { open: { ...who, ...marks } } : { click: { link: entry.url, ...who, ...marks } }
    return [{ accountId, subjectId, type: typeOf(entry), recipient: address, data, at, origin: null }]
  })
}

async function addToEmail(tx: Tx, { recipient, link, lastAt }: VisitEntry, people: number): Promise<void> {
  const counter = link < 0 ? 'openCount' : 'clickCount'
  await tx.db
    .updateTable('emails')
    .set(eb => ({ [counter]: eb(counter, '+', people), lastEventAt: lastAt }))
    .where('accountId', '=', recipient.accountId)
    .where('id', '=', recipient.emailId)
    .execute()
}

async function writeVisit(
  tx: Tx,
  { recipient: { accountId, emailId, ordinal }, link, url, hits, lastAt }: VisitEntry,
  { people, machines }: Judged,
  former: Former,
  sharedUrl: string | null,
): Promise<void> {
  const row = {
    emailId,
    ordinal,
    link,
    count: (former?.count ?? 0) + people,
    machineCount: (former?.machineCount ?? 0) + machines,
    lastAt,
  }
  if (former) await tx.rows.update('visits', ['emailId', 'ordinal', 'link'], [row])
  else {
    const ownUrl = url === sharedUrl ? null : url
    await tx.rows.insert('visits', [{ ...row, accountId, url: ownUrl, firstAt: hits[0]!.at }])
  }
}

/**
 * Adds the visits to the broadcast's link.
 * @returns the URL of the broadcast's link; null when it has no row; `url` when there is no broadcast
 */
async function writeBroadcastLink(
  tx: Tx,
  { recipient: { accountId }, link, url }: VisitEntry,
  { broadcastId }: Pick<EmailOrigin, 'broadcastId'>,
  { people, machines }: Judged,
  former: Former,
): Promise<string | null> {
  if (!broadcastId) return url
  const columns = ['url', 'clickCount', 'uniqueCount', 'machineCount'] as const
  const [known] = await tx.rows.lock('broadcastLinks', [{ broadcastId, link }], columns)
  if (!known && isByUrl(link) && !(await hasRoomForUrl(tx, broadcastId))) return null
  const isNew = people > 0 && (former?.count ?? 0) === 0
  const row = {
    broadcastId,
    link,
    clickCount: (known?.clickCount ?? 0) + people,
    uniqueCount: (known?.uniqueCount ?? 0) + (isNew ? 1 : 0),
    machineCount: (known?.machineCount ?? 0) + machines,
  }
  if (known) await tx.rows.update('broadcastLinks', ['broadcastId', 'link'], [row])
  else await tx.rows.insert('broadcastLinks', [{ ...row, accountId, url: url! }])
  return known ? known.url : url
}

/**
 * Each recipient may have different links, so a broadcast lists a limited number; others count in its totals.
 */
async function hasRoomForUrl(tx: Tx, broadcastId: Id): Promise<boolean> {
  const last = await tx.db
    .selectFrom('broadcastLinks')
    .select('link')
    .where('broadcastId', '=', broadcastId)
    .where('link', '>', LINK_NUMBER_MAX)
    .orderBy('link')
    .limit(1)
    .offset(URL_LINKS_MAX - 1)
    .executeTakeFirst()
  return last === undefined
}
