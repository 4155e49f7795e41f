/** Schemas of alerts. */
import * as z from 'zod'
import type { OperatorAlertRow } from '../../../store/model/schema/alerts.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

export const alertSchema = z
  .object({
    object: z.literal('alert'),
    kind: z.string().meta({
      description:
        '`ip-reputation`, `authentication`, `smart-host-login`, `certificate`, `mta-sts`, `account-bounces`, `account-complaints`, `task-parked` or `database-damaged`',
    }),
    provider: z.string().nullable().meta({
      description:
        'Mailbox provider, `other` if it is not a known one; for a certificate, the certificate authority; for a parked task, its name.',
    }),
    account_id: idSchema('acc')
      .nullable()
      .meta({ description: 'Account with a high bounce or complaint rate.' }),
    source_ip: z.string().nullable(),
    mx_host: z.string().nullable(),
    domain: z.string().nullable(),
    reply: z.string().meta({ description: 'First such reply of the hour; for an account, its rate.' }),
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
