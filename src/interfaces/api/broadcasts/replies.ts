/** Replies about broadcasts: their schemas, and views of rows with content and results. */
import * as z from 'zod'
import { type Id, wireId } from '../../../lib/ids.ts'
import { storedAttachments } from '../../../pipeline/accept/stored-attachments.ts'
import type { BroadcastDetail, BroadcastLint } from '../../../pipeline/broadcasts/broadcasts.ts'
import { LINT_PARTS, LINT_RULES, saysUnsubscribe } from '../../../pipeline/broadcasts/lint.ts'
import { versionOf } from '../../../pipeline/broadcasts/version.ts'
import { mailboxText } from '../../../protocols/smtp/address.ts'
import { parseStoredMailboxes } from '../../../resources/emails/email-rows.ts'
import {
  BROADCAST_STATUSES,
  type BroadcastRow,
  EMAIL_STATUSES,
  NO_UNSUBSCRIBE_REASONS,
  SKIP_REASONS,
} from '../../../store/model/schema.ts'
import { attachmentSchema, attachmentView } from '../emails/schema.ts'
import type { Warning } from '../route/warnings.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const count = z.int().min(0)
export const broadcastRowSchema = z.object({
  object: z.literal('broadcast'),
  id: idSchema('brd'),
  name: z.string(),
  audience_id: idSchema('aud'),
  segment_id: idSchema('seg').nullable(),
  topic_id: idSchema('top').nullable(),
  template_id: idSchema('tpl').nullable(),
  from: z.string(),
  subject: z.string(),
  reply_to: z.array(z.string()),
  preview_text: z.string().nullable(),
  no_unsubscribe_reason: z.enum(NO_UNSUBSCRIBE_REASONS).nullable(),
  emails_per_hour: z.int().min(1).nullable().meta({ description: 'Null for no limit.' }),
  status: z.enum(BROADCAST_STATUSES).meta({ id: 'BroadcastStatus' }),
  error: z.string().nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
  updated_by: z.string().nullable().meta({
    description: 'Address of the user, or name of the access token, who last changed content or recipients.',
  }),
  scheduled_at: timeSchema.nullable(),
  undo_until: timeSchema.nullable().meta({ description: 'Time until which sending can be undone.' }),
  started_at: timeSchema.nullable(),
  sent_at: timeSchema.nullable(),
})
export const broadcastSchema = broadcastRowSchema
  .extend({
    version: z.string().meta({
      description: 'Version of content and recipients; it changes with each of them.',
    }),
    html: z.string().nullable(),
    text: z.string().nullable(),
    attachments: z.array(attachmentSchema),
    progress: z.object({
      total: count
        .nullable()
        .meta({ description: 'Number of recipients; null until the recipient list is complete.' }),
      expanded: count.meta({
        description: 'Number of recipients whose email was created or who were skipped.',
      }),
      handed_over: count.meta({
        description: 'Number of emails transmitted to a mail server, excluding failed ones.',
      }),
    }),
    counts: z.object(Object.fromEntries(EMAIL_STATUSES.map(status => [status, z.int()]))),
    opens: count,
    unique_opens: count,
    clicks: count,
    unique_clicks: count,
    unsubscribes: count,
    skipped: z.object(Object.fromEntries(SKIP_REASONS.map(reason => [reason, count]))),
  })
  .meta({ id: 'Broadcast' })

export const lintSchema = z.object({
  object: z.literal('broadcast_lint'),
  id: idSchema('brd'),
  findings: z.array(
    z.object({
      rule: z.enum(LINT_RULES),
      severity: z.enum(['error', 'warning']),
      part: z.enum(LINT_PARTS),
      line: z.int().min(1).nullable(),
      message: z.string(),
    }),
  ),
  links: z
    .array(z.object({ url: z.string(), line: z.int().min(1), message: z.string().nullable() }))
    .meta({ description: 'Links of the HTML, at most 200, each with what is wrong with it, or null.' }),
})
export const previewSchema = z.object({
  object: z.literal('broadcast_preview'),
  id: idSchema('brd'),
  subject: z.string(),
  html: z.string().nullable(),
  text: z.string().nullable().meta({ description: 'Derived from the HTML if the broadcast has no text.' }),
  attachments: z.array(attachmentSchema),
})
export const testSchema = z.object({
  object: z.literal('broadcast_test'),
  id: idSchema('brd'),
  emails: z.array(z.object({ id: idSchema('eml'), to: z.string() })),
})

/** @param isOfSegment see `broadcastRow` */
export function broadcastView(
  { broadcast, counts }: BroadcastDetail,
  isOfSegment: boolean,
): z.output<typeof broadcastSchema> {
  const { html, text, countedAt, memberCount, expandedCount } = broadcast
  const statuses = EMAIL_STATUSES.map(status => [status, counts[`status.${status}`]] as const)
  const notHandedOver = ['queued', 'canceled', 'suppressed', 'scheduled', 'failed']
  const handedOver = statuses.filter(([status]) => !notHandedOver.includes(status))
  return {
    ...broadcastRow(broadcast, isOfSegment),
    version: versionOf(broadcast),
    html,
    text,
    attachments: storedAttachments(broadcast.attachments).map(attachmentView),
    progress: {
      total: countedAt === null ? null : memberCount,
      expanded: expandedCount,
      handed_over: handedOver.reduce((sum, [, number]) => sum + number, 0),
    },
    counts: Object.fromEntries(statuses),
    opens: counts['reaction.opened'],
    unique_opens: counts['reaction.unique_opened'],
    clicks: counts['reaction.clicked'],
    unique_clicks: counts['reaction.unique_clicked'],
    unsubscribes: counts['reaction.unsubscribed'],
    skipped: Object.fromEntries(SKIP_REASONS.map(reason => [reason, counts[`skipped.${reason}`]])),
  }
}

/**
 * Converts a broadcast for lists.
 *
 * @param isOfSegment for a client that requires a `segment_id`: it gets the audience if the broadcast has no
 * segment
 */
export function broadcastRow(row: BroadcastRow, isOfSegment: boolean): z.output<typeof broadcastRowSchema> {
  const segmentId = row.segmentId ?? (isOfSegment ? row.audienceId : null)
  return {
    object: 'broadcast',
    id: wireId('brd', row.id),
    name: row.name,
    audience_id: wireId('aud', row.audienceId),
    segment_id: segmentId && wireId('seg', segmentId),
    topic_id: row.topicId && wireId('top', row.topicId),
    template_id: row.templateId && wireId('tpl', row.templateId),
    from: mailboxText(parseStoredMailboxes(row.sender)[0]!),
    subject: row.subject,
    reply_to: parseStoredMailboxes(row.replyToList).map(mailboxText),
    preview_text: row.previewText,
    no_unsubscribe_reason: row.noUnsubscribeReason,
    emails_per_hour: row.emailsPerHour,
    status: row.status,
    error: row.error,
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
    updated_by: row.updatedBy,
    scheduled_at: timestamp(row.scheduledAt),
    undo_until: timestamp(row.undoUntil),
    started_at: timestamp(row.startedAt),
    sent_at: timestamp(row.sentAt),
  }
}

export function lintView(id: Id, lint: BroadcastLint): z.output<typeof lintSchema> {
  return { object: 'broadcast_lint', id: wireId('brd', id), ...lint }
}

/** Warns of a broadcast that is sent without an unsubscribe link and without a reason. */
export function unsubscribeWarnings({ broadcast }: BroadcastDetail): Warning[] {
  if (broadcast.noUnsubscribeReason !== null || saysUnsubscribe(broadcast)) return []
  return [
    {
      path: 'no_unsubscribe_reason',
      message:
        'The content has no {{unsubscribe_url}}. Add it, or say in `no_unsubscribe_reason` why it is not needed.',
    },
  ]
}
