/** Schemas of alerts and of their silences. */
import * as z from 'zod'
import { parseWireId, wireId } from '../../../lib/ids.ts'
import type { TestedChannel } from '../../../pipeline/alerts/channel-test.ts'
import { ALERT_KINDS, type AlertKind, isAboutAccount } from '../../../resources/alerts/kinds.ts'
import { conditionFields, isLastingKind } from '../../../resources/alerts/operator-alerts.ts'
import type { AlertCondition, AlertSilenceRow, OperatorAlertRow } from '../../../store/model/schema/alerts.ts'
import { invalidField } from '../api-error.ts'
import { bodyReader, readTime } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const KINDS = Object.keys(ALERT_KINDS) as AlertKind[]
const DAY_MS = 86_400_000
const SILENCE_DAYS_MAX = 90

export const conditionBodySchema = z.object({
  kind: z.enum(KINDS),
  provider: z
    .string()
    .max(1_000)
    .optional()
    .meta({ description: 'Only alerts with this `provider`, instead of all of the kind.' }),
  account_id: z.string().optional().meta({ description: 'Only alerts about this account.' }),
  source_ip: z.string().max(100).optional().meta({ description: 'Only alerts with this `source_ip`.' }),
})
export const silenceBodySchema = conditionBodySchema.extend({
  until: z.string().meta({
    description: `End of the silence, an ISO 8601 time at most ${SILENCE_DAYS_MAX} days ahead.`,
  }),
})
const emptyMeansAbsent = ['provider', 'source_ip']
const readConditionBody = bodyReader(conditionBodySchema, { emptyMeansAbsent })
const readSilenceBody = bodyReader(silenceBodySchema, { emptyMeansAbsent })

export const silenceSchema = z
  .object({
    object: z.literal('alert_silence'),
    kind: z.string(),
    provider: z.string().nullable().meta({ description: 'Null for alerts of any provider.' }),
    account_id: idSchema('acc').nullable().meta({ description: 'Null for alerts of any account.' }),
    source_ip: z.string().nullable().meta({ description: 'Null for alerts of any source address.' }),
    until: timeSchema,
    created_by: z.string().meta({
      description: 'Email address of the operator, or the name of the access token.',
    }),
    created_at: timeSchema,
  })
  .meta({ id: 'AlertSilence' })
export const silenceListSchema = z.object({ object: z.literal('list'), data: z.array(silenceSchema) })
export const unsilenceSchema = z.object({
  object: z.literal('alert_unsilence'),
  ended: z.boolean().meta({ description: 'False if exactly these alerts were not silenced.' }),
})

const channelSchema = z.object({
  channel: z.enum(['webhook', 'email', 'smart_host']),
  to: z.string().nullable().meta({ description: 'Operator to whom the email goes; null for the webhook.' }),
  accepted: z
    .boolean()
    .meta({ description: 'Whether the receiver took it; for an email, whether it is queued.' }),
  answer: z.string().meta({ description: 'Status and beginning of the reply, or why there is none.' }),
})
export const testSchema = z.object({
  object: z.literal('alert_test'),
  channels: z.array(channelSchema),
})

export const alertSchema = z
  .object({
    object: z.literal('alert'),
    kind: z.string().meta({
      description: `${KINDS.slice(0, -1)
        .map(kind => `\`${kind}\``)
        .join(', ')} or \`${KINDS.at(-1)}\``,
    }),
    provider: z.string().nullable().meta({
      description:
        'Mailbox provider, `other` if it is not a known one; for a certificate, the certificate authority; for a parked task, its name; for a disk or backups, their folder; for the expiry of a certificate, its host name or file.',
    }),
    account_id: idSchema('acc')
      .nullable()
      .meta({ description: 'Account with a high bounce or complaint rate.' }),
    account_name: z.string().nullable(),
    source_ip: z.string().nullable(),
    mx_host: z.string().nullable(),
    domain: z.string().nullable(),
    reply: z.string().meta({ description: 'First such reply of the hour; for an account, its rate.' }),
    active: z.boolean().nullable().meta({
      description:
        'Whether the condition lasts, for `disk-space`, `disk-sync`, `certificate-expiry`, `clock` and `backup`; null for the others.',
    }),
    ended_at: timeSchema.nullable().meta({
      description:
        'Time at which the condition of such an alert ended; null while it lasts, and for the others.',
    }),
    silence: silenceSchema.nullable().meta({
      description: 'Silence that keeps the alert from being sent now; null when it is not silenced.',
    }),
    created_at: timeSchema,
  })
  .meta({ id: 'Alert' })

/** @throws ApiError 422 */
export function readCondition(body: unknown): AlertCondition {
  return conditionOf(readConditionBody(body))
}

/** @throws ApiError 422 */
export function readSilence(body: unknown, now: number): AlertCondition & { until: number } {
  const { until: text, ...selected } = readSilenceBody(body)
  const until = readTime('until', text)
  if (until <= now) throw invalidField('until', '`until` must be in the future.')
  if (until > now + SILENCE_DAYS_MAX * DAY_MS)
    throw invalidField('until', `\`until\` must be at most ${SILENCE_DAYS_MAX} days ahead.`)
  return { ...conditionOf(selected), until }
}

function conditionOf({
  kind,
  provider,
  accountId,
  sourceIp = '',
}: ReturnType<typeof readConditionBody>): AlertCondition {
  if (!isAboutAccount(kind)) {
    if (accountId !== undefined)
      throw invalidField('account_id', `\`account_id\` cannot be combined with the kind \`${kind}\`.`)
    return { kind, provider: provider ?? '', sourceIp }
  }
  if (provider !== undefined)
    throw invalidField('provider', `\`provider\` cannot be combined with the kind \`${kind}\`.`)
  if (accountId === undefined) return { kind, provider: '', sourceIp }
  const id = parseWireId('acc', accountId)
  if (!id) throw invalidField('account_id', '`account_id` must be an id that begins with `acc_`.')
  return { kind, provider: wireId('acc', id), sourceIp }
}

export function silenceView(silence: AlertSilenceRow): z.output<typeof silenceSchema> {
  return {
    object: 'alert_silence',
    ...conditionFields(silence),
    until: timestamp(silence.until),
    created_by: silence.createdBy,
    created_at: timestamp(silence.createdAt),
  }
}

export function channelView({ channel, to, isTaken, answer }: TestedChannel): z.output<typeof channelSchema> {
  return { channel, to, accepted: isTaken, answer }
}

interface AlertContext {
  /** Returns the name of an account by its id; undefined for one that was deleted. */
  nameOf(id: string): string | undefined
  /** Silence that covers the alert. */
  silence: AlertSilenceRow | undefined
}

export function alertView(
  row: OperatorAlertRow,
  { nameOf, silence }: AlertContext,
): z.output<typeof alertSchema> {
  const { kind, provider, mxHost, domain, reply, raisedAt, endedAt } = row
  return {
    object: 'alert',
    ...conditionFields(row),
    account_name: isAboutAccount(kind) ? (nameOf(provider) ?? null) : null,
    mx_host: mxHost,
    domain: domain === '' ? null : domain,
    reply,
    active: isLastingKind(kind) ? endedAt === null : null,
    ended_at: isLastingKind(kind) ? timestamp(endedAt ?? null) : null,
    silence: silence ? silenceView(silence) : null,
    created_at: timestamp(raisedAt),
  }
}
