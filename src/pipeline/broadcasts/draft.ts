/** Commands that create, change and delete broadcasts before they are sent. */

import { foldText } from '../../lib/fold-text.ts'
import { type Id, sameId } from '../../lib/ids.ts'
import type { Content } from '../../resources/emails/content.ts'
import { releaseContents, storeContent } from '../../resources/emails/content-rows.ts'
import { referBlobs } from '../../store/blobs/blobs.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { BroadcastRow, Json, NoUnsubscribeReason } from '../../store/model/schema.ts'
import { refuseSendTime } from '../accept/field-rules.ts'
import { closedFor, type Refusal, refuseField } from '../accept/refusal.ts'
import { endHold } from '../queue/hold.ts'
import { readServiceMode } from '../queue/service-mode.ts'
import { attachmentList, type NewAttachment, releaseAttachments, sameList } from './attachments.ts'
import { BROADCAST_DUE, findBroadcast, type StoredBroadcast } from './broadcast-rows.ts'
import { delayAfter } from './rate.ts'
import { type BroadcastKey, lockBroadcast, refuseUnsendable, setBroadcast, wrongState } from './state.ts'
import { contentFault } from './texts.ts'
import { refuseOtherVersion } from './version.ts'

/** The fields of a broadcast that an account sets. */
export interface BroadcastFields extends Content {
  name: string
  /** Null when the audience follows from the segment. */
  audienceId: Id | null
  /** Id of a segment or an audience: newer clients call audiences segments, and some ids have no prefix. */
  segmentId: Id | null
  topicId: Id | null
  templateId: Id | null
  /** Mailbox as JSON, in the format of an email's sender. */
  sender: Json
  replyToList: Json | null
  subject: string
  previewText: string | null
  /** Why the content has no unsubscribe link. */
  noUnsubscribeReason: NoUnsubscribeReason | null
  /** Number of emails in an hour; null for no limit. */
  emailsPerHour: number | null
}

export interface Changes {
  changes: Partial<BroadcastFields>
  /** Undefined keeps the time. */
  scheduledAt: number | undefined
  /** Version that the change was made from; null for the current one. */
  version: string | null
}

/** Attachments of a request whose files are staged. */
interface Files {
  /** Undefined keeps the attachments. */
  attachments: readonly NewAttachment[] | undefined
}

export interface CreateInput extends BroadcastKey, Author, Files {
  fields: BroadcastFields
  /** Undefined creates a draft. */
  send: CheckedSendOrder | undefined
  /** Broadcast whose attachments are copied. If it is gone, none is created. */
  copyOf: Id | null
  now: number
}

export interface Author {
  /** Address of a user or name of an access token; null when it is not known. */
  by: string | null
}

export interface SendOrder {
  /** Time of sending in ms since the epoch; null is now. */
  at: number | null
  /** True when the time follows from a delay, in which sending can be undone. */
  isDelayed?: boolean
}

export interface DelayedSendOrder extends SendOrder {
  /** Delay from now, instead of a time. */
  delayMs?: number
  /** Why the content has no unsubscribe link; null keeps the stored reason. */
  noUnsubscribeReason?: NoUnsubscribeReason | null
  /** Number of emails in an hour; null for no limit, and undefined keeps what is stored. */
  emailsPerHour?: number | null | undefined
}

export interface CheckedSendOrder extends SendOrder {
  /** Refusal because links would not work for the recipients; reported after faults of the content. */
  linkRefusal: Refusal | undefined
}

type Refs = Pick<BroadcastFields, 'audienceId' | 'segmentId' | 'topicId'>
type Audience = Pick<BroadcastRow, 'audienceId' | 'segmentId'>
type Written = true | Refusal | undefined

export const draftCommands = {
  createBroadcast: command<CreateInput, Written>(async (tx, input) => {
    const { accountId, id, by, fields, send, copyOf, attachments: wanted = [], now } = input
    const original = copyOf && (await lockBroadcast(tx, { accountId, id: copyOf }))
    if (copyOf && !original) return undefined
    const refs = await resolveRefs(tx, accountId, fields, fields.audienceId)
    if ('refused' in refs) return refs
    const listed = original ? sameList(original.attachments) : attachmentList(null, wanted)
    if ('refused' in listed) return listed
    const refusal =
      refuseContent(fields) ??
      (send &&
        (closedFor(await readServiceMode(tx.db)) ??
          (await refuseUnsendable(tx, accountId, fields)) ??
          send.linkRefusal ??
          refuseSendTime(send.at, now)))
    if (refusal) return refusal
    const { html, text, ...words } = fields
    const row: BroadcastRow = {
      accountId,
      id,
      ...words,
      foldedName: foldText(fields.name),
      ...refs,
      contentId: await storeContent(tx, { html, text }),
      attachments: listed.attachments,
      ...NOTHING_SENT,
      createdAt: now,
      updatedAt: now,
      updatedBy: by,
      ...(send ? sendState(send, now) : DRAFT),
    }
    await referBlobs(tx, listed.blobs, now)
    await tx.db.insertInto('broadcasts').values(row).execute()
    if (row.nextAt !== null) tx.announce(BROADCAST_DUE, row.nextAt)
    return true
  }),

  /**
   * Changes a draft or a scheduled broadcast; a scheduled one stays scheduled. Of one that has begun, only
   * its rate is changed.
   */
  changeBroadcast: command<BroadcastKey & Author & Changes & Files & { now: number }, Written>(
    async (tx, { accountId, id, by, changes, attachments: wanted, scheduledAt, version, now }) => {
      await lockBroadcast(tx, { accountId, id })
      const row = await findBroadcast(tx.db, accountId, id)
      if (!row) return undefined
      if (mayChangeRate(row) && scheduledAt === undefined && !wanted && isOnlyRate(changes))
        return changeRate(tx, row, changes.emailsPerHour, now)
      if (row.status !== 'draft' && row.status !== 'scheduled') return wrongState('changed', row.status)
      if (scheduledAt !== undefined && row.status === 'draft') return NOT_SCHEDULED
      const changedMeanwhile = refuseOtherVersion(row, version)
      if (changedMeanwhile) return changedMeanwhile
      const fields = { ...fieldsOf(row), ...changes }
      const refs = await resolveRefs(tx, accountId, fields, changes.audienceId ?? null)
      if ('refused' in refs) return refs
      const listed = wanted && attachmentList(row.attachments, wanted)
      if (listed && 'refused' in listed) return listed
      const refusal =
        refuseContent(fields) ??
        (row.status === 'scheduled' ? await refuseUnsendable(tx, accountId, fields) : undefined) ??
        refuseSendTime(scheduledAt ?? null, now)
      if (refusal) return refusal
      const { html, text, ...rest } = fields
      const at = scheduledAt ?? row.scheduledAt
      const contentId = await storeContent(tx, { html, text })
      await releaseContents(tx, [row.contentId])
      if (listed) {
        await referBlobs(tx, listed.blobs, now)
        await releaseAttachments(tx, row.attachments)
      }
      await setBroadcast(
        tx,
        { accountId, id },
        {
          ...rest,
          ...refs,
          foldedName: foldText(fields.name),
          contentId,
          ...(listed && { attachments: listed.attachments }),
          updatedAt: now,
          updatedBy: by,
          scheduledAt: at,
          undoUntil: scheduledAt === undefined ? row.undoUntil : null,
          nextAt: at,
        },
      )
      return true
    },
  ),

  /** Deletes a broadcast that has no emails: a draft, a scheduled one, or one that was canceled before them. */
  deleteBroadcast: command<BroadcastKey & { now: number }, Written>(async (tx, { accountId, id, now }) => {
    const row = await lockBroadcast(tx, { accountId, id })
    if (!row) return undefined
    const isCanceled = row.status === 'canceled'
    if (isCanceled && row.firstEmailId) return HAS_EMAILS
    if (row.status !== 'draft' && row.status !== 'scheduled' && !isCanceled)
      return wrongState('deleted', row.status)
    await tx.db.deleteFrom('broadcastPages').where('broadcastId', '=', id).execute()
    await tx.db.deleteFrom('broadcasts').where('accountId', '=', accountId).where('id', '=', id).execute()
    await releaseContents(tx, row.sentContentId ? [row.contentId, row.sentContentId] : [row.contentId])
    await releaseAttachments(tx, row.attachments)
    if (row.holdId) await endHold(tx, row.holdId, now)
    return true
  }),
}

/** Whether the broadcast has begun and may go on. */
function mayChangeRate({ status }: Pick<BroadcastRow, 'status'>): boolean {
  return status === 'sending' || status === 'paused' || status === 'failed'
}

function isOnlyRate(
  changes: Partial<BroadcastFields>,
): changes is Pick<BroadcastFields, 'emailsPerHour'> & Record<string, never> {
  return Object.keys(changes).join() === 'emailsPerHour'
}

/** The next emails follow after the time that the new rate leaves between them, or earlier. */
async function changeRate(
  tx: Tx,
  row: BroadcastRow,
  emailsPerHour: number | null,
  now: number,
): Promise<true> {
  const isWaiting = row.status === 'sending' && row.nextAt !== null
  const nextAt = isWaiting ? Math.min(row.nextAt!, now + delayAfter(1, emailsPerHour)) : row.nextAt
  await setBroadcast(tx, row, { emailsPerHour, nextAt, updatedAt: now })
  return true
}

export const NO_AUDIENCE = refuseField(
  'missing_field',
  'audience_id',
  'Missing `segment_id` (or `audience_id`) field.',
)

const NOT_SCHEDULED = refuseField(
  'invalid_field',
  'scheduled_at',
  '`scheduled_at` cannot be set on a draft. Use `POST /broadcasts/:id/send` to schedule it.',
)

const HAS_EMAILS: Refusal = {
  refused: 'wrong_state',
  message: 'A broadcast that is canceled cannot be deleted, because some of its emails were created before.',
}

/** Columns of a broadcast that is not to be sent. */
export const DRAFT = {
  status: 'draft',
  scheduledAt: null,
  undoUntil: null,
  startedAt: null,
  nextAt: null,
} as const

const NOTHING_SENT = {
  error: null,
  sentAt: null,
  sentContentId: null,
  sentSubject: null,
  variables: null,
  filters: null,
  toContactId: null,
  lastContactId: null,
  countedAt: null,
  memberCount: 0,
  expandedCount: 0,
  expandedAt: null,
  firstEmailId: null,
  lastEmailId: null,
  holdId: null,
  canceledTo: null,
}

/** Columns of a broadcast that is sent now or at a time. */
export function sendState(
  { at, isDelayed = false }: SendOrder,
  now: number,
): Pick<BroadcastRow, keyof typeof DRAFT> {
  return at === null
    ? { status: 'sending', scheduledAt: null, undoUntil: null, startedAt: now, nextAt: now }
    : { status: 'scheduled', scheduledAt: at, undoUntil: isDelayed ? at : null, startedAt: null, nextAt: at }
}

export function fieldsOf({
  name,
  audienceId,
  segmentId,
  topicId,
  templateId,
  sender,
  replyToList,
  subject,
  previewText,
  noUnsubscribeReason,
  emailsPerHour,
  html,
  text,
}: StoredBroadcast): BroadcastFields {
  return {
    name,
    audienceId,
    segmentId,
    topicId,
    templateId,
    sender,
    replyToList,
    subject,
    previewText,
    noUnsubscribeReason,
    emailsPerHour,
    html,
    text,
  }
}

function refuseContent(fields: BroadcastFields): Refusal | undefined {
  const fault = contentFault(fields)
  return fault && refuseField('invalid_field', fault.part, `\`${fault.part}\` ${fault.fault}.`)
}

/** @param named is the audience that the request names */
async function resolveRefs(
  tx: Tx,
  accountId: Id,
  { segmentId, ...refs }: Refs,
  named: Id | null,
): Promise<Audience | Refusal> {
  const mayBe = segmentId && (named === null || sameId(named, segmentId))
  const isAudience = mayBe && (await hasAudience(tx, accountId, segmentId))
  return isAudience
    ? checkRefs(tx, accountId, { ...refs, audienceId: segmentId, segmentId: null })
    : checkRefs(tx, accountId, { ...refs, segmentId })
}

/** Checks that audience, segment and topic belong to the account, and the segment to the audience. */
async function checkRefs(
  tx: Tx,
  accountId: Id,
  { audienceId: wanted, segmentId, topicId }: Refs,
): Promise<Audience | Refusal> {
  const ofSegment = segmentId && (await audienceOf(tx, accountId, segmentId))
  if (segmentId && !ofSegment) return unknown('segment_id', 'Segment')
  const audienceId = wanted ?? ofSegment
  if (!audienceId) return NO_AUDIENCE
  if (!(await hasAudience(tx, accountId, audienceId))) return unknown('audience_id', 'Audience')
  if (ofSegment && !sameId(ofSegment, audienceId))
    return refuseField(
      'invalid_field',
      'segment_id',
      '`segment_id` must be a segment of the audience in `audience_id`.',
    )
  const [topic] = topicId ? await tx.rows.find('topics', [{ accountId, id: topicId }], ['id']) : []
  return topicId && !topic ? unknown('topic_id', 'Topic') : { audienceId, segmentId }
}

async function hasAudience({ rows }: Tx, accountId: Id, id: Id): Promise<boolean> {
  const [audience] = await rows.find('audiences', [{ accountId, id }], ['id'])
  return audience !== undefined
}

async function audienceOf({ db }: Tx, accountId: Id, segmentId: Id): Promise<Id | undefined> {
  const segment = await db
    .selectFrom('audiences')
    .innerJoin('segments', 'segments.audienceId', 'audiences.id')
    .select('audiences.id')
    .where('audiences.accountId', '=', accountId)
    .where('segments.id', '=', segmentId)
    .executeTakeFirst()
  return segment?.id
}

function unknown(path: string, what: string): Refusal {
  return refuseField('unknown_reference', path, `${what} not found (\`${path}\`).`)
}
