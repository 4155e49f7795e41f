/** Alerts as the API shows them. */
import * as z from 'zod'
import type { OperatorAlertRow } from '../../../store/schema/alerts.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

export const alertSchema = z
  .object({
    object: z.literal('alert'),
    kind: z.string().meta({
      description:
        '`ip-reputation`, `authentication`, `smart-host-login`, `certificate`, `account-bounces` or `account-complaints`',
    }),
    provider: z.string().nullable().meta({
      description:
        'Of the mail servers, `other` for all that are of no large one; of a certificate, who was to give it.',
    }),
    account_id: idSchema('acc')
      .nullable()
      .meta({ description: 'Whose mail bounces or is complained about.' }),
    source_ip: z.string().nullable(),
    mx_host: z.string().nullable(),
    domain: z.string().nullable(),
    reply: z.string().meta({ description: 'The first such reply of the hour; of an account, its rate.' }),
    created_at: timeSchema,
  })
  .meta({ id: 'Alert' })

export function alertView({ kind, provider, sourceIp, mxHost, domain, reply, raisedAt }: OperatorAlertRow) {
  const isOfAccount = kind.startsWith('account-')
  return {
    object: 'alert' as const,
    kind,
    provider: isOfAccount ? null : provider,
    account_id: isOfAccount ? provider : null,
    source_ip: sourceIp === '' ? null : sourceIp,
    mx_host: mxHost,
    domain: domain === '' ? null : domain,
    reply,
    created_at: timestamp(raisedAt),
  }
}
