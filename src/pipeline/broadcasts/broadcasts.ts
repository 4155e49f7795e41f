/**
 * Creates, checks, previews, tests, sends, pauses and cancels the broadcasts of an account.
 *
 * In: requests of the HTTP API (`interfaces/api/broadcasts`) and of the dashboard. Out: commands that change
 * the broadcast's row. The background runner (`runner.ts`, started by `app/broadcasts.ts`) carries out what a
 * row says: it finds members (`begin.ts`), makes an email for each (`expand.ts`), or cancels emails
 * (`cancel.ts`).
 */

import type { Clock } from '../../lib/clock.ts'
import { copyName } from '../../lib/copy-name.ts'
import { type Id, type IdSource, wireId } from '../../lib/ids.ts'
import { foldAddress, type Mailbox } from '../../protocols/smtp/address.ts'
import { hasMemberElsewhere } from '../../resources/contacts/members.ts'
import { listPropertyKeys } from '../../resources/contacts/property-keys.ts'
import { findAudience } from '../../resources/contacts/read.ts'
import { parseStoredMailboxes, senderDomain } from '../../resources/emails/email-rows.ts'
import { type BroadcastCounts, readBroadcastCounts } from '../../resources/events/broadcast-counts.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { BlobReservations } from '../../store/blobs/reservations.ts'
import type { Run } from '../../store/model/command.ts'
import type { BroadcastRow, Db } from '../../store/model/schema.ts'
import type { Accept } from '../accept/accept.ts'
import type { Preparation } from '../accept/prepare.ts'
import { isRefusal, type Refusal, refuseField } from '../accept/refusal.ts'
import { readAttachments } from '../accept/stored-attachments.ts'
import { type Accepted, newSubmission, type Sender } from '../accept/submission.ts'
import { discardFiles, type NewAttachment, type WantedAttachment, withStagedFiles } from './attachments.ts'
import { type BroadcastPage, findBroadcast, listBroadcasts, type StoredBroadcast } from './broadcast-rows.ts'
import type { broadcastCommands } from './commands.ts'
import {
  type Author,
  type BroadcastFields,
  type Changes,
  type CreateInput,
  type DelayedSendOrder,
  fieldsOf,
  type SendOrder,
} from './draft.ts'
import { type LinkBase, linkFault, linkWarning } from './link-base.ts'
import { type CheckedLink, checkedLinks, type LintFinding, lintBroadcast, trackingFindings } from './lint.ts'
import { NAME_LENGTH_MAX } from './names.ts'
import { placeholdersOf } from './placeholders.ts'
import { type Sample, type SampleContact, sampleOf } from './samples.ts'
import { refuseSender } from './state.ts'

/** A broadcast with the counts of its emails. */
export interface BroadcastDetail {
  broadcast: StoredBroadcast
  counts: BroadcastCounts
}

/** What was found in a broadcast before it is sent. */
export interface BroadcastLint {
  findings: LintFinding[]
  links: CheckedLink[]
}

type Preview = Sample & Pick<BroadcastRow, 'attachments'>

interface BroadcastsOptions {
  db: Db
  run: Run<typeof broadcastCommands>
  clock: Clock
  newId: IdSource
  accept: Accept
  preparation: Preparation
  blobs: BlobFiles
  /** Shared with `accept`, because a broadcast and an email may bring the same file. */
  reservations: BlobReservations
  /** Base URL of links, with its setting. */
  linkBase: LinkBase
  simulatorDomains: ReadonlySet<string>
  /** Returns emails to the queue that the hold of the broadcast has kept. */
  resumeEmails(broadcast: Pick<BroadcastRow, 'accountId' | 'id'>): void
}

const UNKNOWN_ADDRESS = 'reader@example.com'
const UNKNOWN_CONTACT = refuseField('unknown_reference', 'contact_id', 'Contact not found (`contact_id`).')

/** Results of the methods are undefined when the account has no such broadcast. */
export class Broadcasts {
  readonly #options: BroadcastsOptions

  constructor(options: BroadcastsOptions) {
    this.#options = options
  }

  /** @param send undefined creates a draft */
  async create(
    accountId: Id,
    { attachments, ...fields }: BroadcastFields & Author & { attachments?: readonly WantedAttachment[] },
    send?: SendOrder,
  ): Promise<BroadcastDetail | Refusal> {
    const checked = send && { ...send, linkRefusal: await refuseLinks(this.#options, accountId, fields) }
    const made = await withStagedFiles(this.#options, attachments ?? [], staged =>
      this.#create(accountId, fields, { attachments: staged, copyOf: null, send: checked }),
    )
    return made!
  }

  /** Creates a draft with the same content, attachments and audience. */
  async duplicate(accountId: Id, id: Id, author: Author) {
    const broadcast = await this.#row(accountId, id)
    if (!broadcast) return undefined
    const name = copyName(broadcast.name, NAME_LENGTH_MAX)
    const fields = { ...fieldsOf(broadcast), name, noUnsubscribeReason: null, ...author }
    return this.#create(accountId, fields, { attachments: undefined, copyOf: id, send: undefined })
  }

  list(accountId: Id, page: BroadcastPage) {
    return listBroadcasts(this.#options.db, accountId, page)
  }

  async find(accountId: Id, id: Id): Promise<BroadcastDetail | undefined> {
    const broadcast = await this.#row(accountId, id)
    const key = { accountId, broadcastId: id }
    return broadcast && { broadcast, counts: await readBroadcastCounts(this.#options.db, key) }
  }

  /** @param wanted undefined keeps the attachments */
  async change(accountId: Id, id: Id, changes: Changes & Author, wanted?: readonly WantedAttachment[]) {
    const order = { ...this.#order(accountId, id), ...changes }
    const change = (attachments: NewAttachment[] | undefined) =>
      this.#options.run('changeBroadcast', { ...order, attachments })
    const done = wanted
      ? await this.#withoutFormerFiles(accountId, id, () => withStagedFiles(this.#options, wanted, change))
      : await change(undefined)
    return this.#after(accountId, id, done)
  }

  delete(accountId: Id, id: Id) {
    const { run } = this.#options
    return this.#withoutFormerFiles(accountId, id, () => run('deleteBroadcast', this.#order(accountId, id)))
  }

  /**
   * Sends a broadcast now, at a time, or after a delay during which it can be unscheduled.
   * @param version is the version of the content to send; null for the current one
   */
  async send(accountId: Id, id: Id, wanted: DelayedSendOrder, version: string | null) {
    const { at, delayMs = 0, noUnsubscribeReason = null, emailsPerHour } = wanted
    const broadcast = await this.#row(accountId, id)
    if (!broadcast) return undefined
    const linkRefusal = await refuseLinks(this.#options, accountId, broadcast)
    const order = this.#order(accountId, id)
    const isDelayed = delayMs > 0
    const send = { at: isDelayed ? order.now + delayMs : at, isDelayed, linkRefusal }
    const more = { version, noUnsubscribeReason, emailsPerHour }
    const done = await this.#options.run('sendBroadcast', { ...order, send, ...more })
    return this.#after(accountId, id, done)
  }

  async unschedule(accountId: Id, id: Id) {
    const done = await this.#options.run('unscheduleBroadcast', this.#order(accountId, id))
    return this.#after(accountId, id, done)
  }

  async pause(accountId: Id, id: Id) {
    const order = this.#order(accountId, id)
    const holdId = this.#options.newId(order.now)
    return this.#after(accountId, id, await this.#options.run('pauseBroadcast', { ...order, holdId }))
  }

  async resume(accountId: Id, id: Id) {
    const { run, resumeEmails } = this.#options
    const done = await run('resumeBroadcast', this.#order(accountId, id))
    if (done === true) resumeEmails({ accountId, id })
    return this.#after(accountId, id, done)
  }

  async cancel(accountId: Id, id: Id) {
    const order = this.#order(accountId, id)
    const holdId = this.#options.newId(order.now)
    return this.#after(accountId, id, await this.#options.run('cancelBroadcast', { ...order, holdId }))
  }

  async lint(accountId: Id, id: Id): Promise<BroadcastLint | undefined> {
    const { db } = this.#options
    const broadcast = await this.#row(accountId, id)
    if (!broadcast) return undefined
    const { fallbacks, keys } = await placeholdersOf(db, broadcast)
    const present = await listPropertyKeys(db, broadcast.audienceId)
    const known = new Set([...present.map(({ key }) => key), ...fallbacks.keys()])
    const findings = [
      ...(await senderFindings(db, broadcast)),
      ...(await linkFindings(this.#options, broadcast)),
      ...lintBroadcast(broadcast, known, keys),
      ...((await countsOpens(db, broadcast)) ? trackingFindings(broadcast.html) : []),
    ]
    return { findings, links: checkedLinks(broadcast.html) }
  }

  /** Renders the broadcast for a contact of its audience; null for an unknown reader. */
  async preview(accountId: Id, id: Id, contactId: Id | null): Promise<Preview | Refusal | undefined> {
    const { db, linkBase } = this.#options
    const broadcast = await this.#row(accountId, id)
    if (!broadcast) return undefined
    const contact = contactId && (await findContact(db, broadcast, { id: contactId }))
    if (contactId && !contact) return UNKNOWN_CONTACT
    const placeholders = await placeholdersOf(db, broadcast)
    const address = contact ? contact.email : UNKNOWN_ADDRESS
    const reader = { address, contact: contact ?? undefined, linkBase: linkBase.url }
    const sample = sampleOf(broadcast, reader, placeholders)
    return { ...sample, attachments: broadcast.attachments }
  }

  /**
   * Sends each address a test email, which does not count for the broadcast.
   * @param contactId contact whose values the emails show; null for the contact of each address
   */
  test(sender: Sender, id: Id, to: readonly Mailbox[], contactId: Id | null) {
    return sendTest(this.#options, sender, id, { to, contactId })
  }

  async #create(
    accountId: Id,
    { by, ...fields }: BroadcastFields & Author,
    rest: Pick<CreateInput, 'attachments' | 'copyOf' | 'send'>,
  ): Promise<BroadcastDetail | Refusal | undefined> {
    const { run, clock, newId } = this.#options
    const now = clock.now()
    const id = newId(now)
    const done = await run('createBroadcast', { accountId, id, by, fields, ...rest, now })
    return this.#after(accountId, id, done)
  }

  /** Removes the files that a change has released. What a crash leaves is removed by the retention. */
  async #withoutFormerFiles<T>(accountId: Id, id: Id, change: () => Promise<T>): Promise<T> {
    const before = await this.#row(accountId, id)
    const done = await change()
    if (done === true && before) await discardFiles(this.#options, before.attachments)
    return done
  }

  #row(accountId: Id, id: Id) {
    return findBroadcast(this.#options.db, accountId, id)
  }

  #order(accountId: Id, id: Id) {
    return { accountId, id, now: this.#options.clock.now() }
  }

  /** Reads the broadcast after a successful command. */
  async #after(accountId: Id, id: Id, done: true | Refusal | undefined) {
    return done === true ? this.find(accountId, id) : done
  }
}

type Links = Pick<BroadcastsOptions, 'db' | 'clock' | 'linkBase' | 'simulatorDomains'>

/** Refuses links that recipients cannot open: a reader who cannot unsubscribe marks the mail as spam. */
async function refuseLinks(
  links: Links,
  accountId: Id,
  to: Pick<BroadcastFields, 'audienceId' | 'segmentId'>,
): Promise<Refusal | undefined> {
  const fault = linkFault(links.linkBase)
  if (!fault || !(await reachesPeople(links, { accountId, ...to }))) return undefined
  return { refused: 'wrong_state', message: fault }
}

/** Whether opens of mail from the sender's domain are counted. */
async function countsOpens(db: Db, { accountId, sender }: StoredBroadcast): Promise<boolean> {
  const domain = await db
    .selectFrom('domains')
    .select('openTracking')
    .where('accountId', '=', accountId)
    .where('name', '=', senderDomain(sender))
    .executeTakeFirst()
  return domain?.openTracking === 1
}

async function senderFindings(db: Db, { accountId, sender }: StoredBroadcast): Promise<LintFinding[]> {
  const refusal = await refuseSender(db, accountId, sender)
  if (!refusal) return []
  return [{ rule: 'sender_domain', severity: 'error', part: 'from', line: null, message: refusal.message }]
}

async function linkFindings(links: Links, broadcast: StoredBroadcast): Promise<LintFinding[]> {
  const about = { part: 'links', line: null } as const
  const fault = linkFault(links.linkBase)
  if (fault && (await reachesPeople(links, broadcast)))
    return [{ ...about, rule: 'unreachable_links', severity: 'error', message: fault }]
  const warning = linkWarning(links.linkBase)
  return warning ? [{ ...about, rule: 'weak_links', severity: 'warning', message: warning }] : []
}

async function sendTest(
  options: BroadcastsOptions,
  sender: Sender,
  id: Id,
  { to, contactId }: { to: readonly Mailbox[]; contactId: Id | null },
): Promise<Accepted | Refusal | undefined> {
  const { db, accept, preparation, linkBase } = options
  const broadcast = await findBroadcast(db, sender.accountId, id)
  if (!broadcast) return undefined
  const chosen = contactId && (await findContact(db, broadcast, { id: contactId }))
  if (contactId && !chosen) return UNKNOWN_CONTACT
  const [from] = parseStoredMailboxes(broadcast.sender)
  const placeholders = await placeholdersOf(db, broadcast)
  const attachments = await readAttachments(options, broadcast.attachments)
  const submissions = []
  for (const recipient of to) {
    const contact = chosen ?? (await findContact(db, broadcast, { email: foldAddress(recipient.address) }))
    const reader = { address: chosen?.email ?? recipient.address, contact, linkBase: linkBase.url }
    submissions.push(
      newSubmission({
        from: from!,
        to: [recipient],
        replyTo: parseStoredMailboxes(broadcast.replyToList),
        ...sampleOf(broadcast, reader, placeholders),
        attachments,
        tags: [{ name: 'broadcast_test', value: wireId('brd', id) }],
      }),
    )
  }
  const emails = submissions.map((submission, index) => ({ index, submission }))
  const prepared = await preparation.batch(sender.accountId, { mode: 'strict', emails, leftOut: [] })
  const accepted = await accept.send(sender, prepared, null)
  return isRefusal(accepted) ? withoutIndex(accepted) : accepted
}

/** Removes the index of the test email from the refusal, because the fault is in the broadcast. */
function withoutIndex({ message, errors, ...refusal }: Refusal): Refusal {
  const shortened = (text: string) => text.replace(/^\[\d+\][:.]? ?/, '')
  return {
    ...refusal,
    message: shortened(message),
    ...(errors && { errors: errors.map(error => ({ ...error, path: shortened(error.path) })) }),
  }
}

function findContact(
  db: Db,
  { accountId, audienceId }: BroadcastRow,
  by: { id: Id } | { email: string },
): Promise<SampleContact | undefined> {
  const contacts = db
    .selectFrom('contacts')
    .select(['email', 'firstName', 'lastName', 'properties'])
    .where('accountId', '=', accountId)
    .where('audienceId', '=', audienceId)
  const wanted = 'id' in by ? contacts.where('id', '=', by.id) : contacts.where('email', '=', by.email)
  return wanted.executeTakeFirst()
}

interface Recipients {
  accountId: Id
  audienceId: Id | null
  /** A segment, or an audience: newer clients call audiences segments. */
  segmentId: Id | null
}

/** Whether the broadcast has a member outside the simulator. The command refuses an unknown audience. */
async function reachesPeople(
  { db, clock, simulatorDomains }: Links,
  { accountId, audienceId, segmentId }: Recipients,
): Promise<boolean> {
  const segment = segmentId && (await findSegment(db, accountId, segmentId))
  const whole = segmentId && !segment ? segmentId : audienceId
  if (segment) return hasMemberElsewhere(db, clock.now(), segment, simulatorDomains)
  if (!whole || !(await findAudience(db, accountId, whole))) return false
  return hasMemberElsewhere(db, clock.now(), { audienceId: whole, filters: null }, simulatorDomains)
}

function findSegment(db: Db, accountId: Id, id: Id) {
  return db
    .selectFrom('segments')
    .select(['audienceId', 'filters'])
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
}
