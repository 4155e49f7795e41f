/** Alerts as the API shows them. */
import { z } from 'zod'
import type { OperatorAlertRow } from '../../store/schema/alerts.ts'
import { timeSchema } from './reply-schemas.ts'
import { timestamp } from './timestamp.ts'

export const alertSchema = z
  .object({
    object: z.literal('alert'),
    kind: z.string().meta({ description: '`ip-reputation`, `authentication` or `smart-host-login`' }),
    provider: z
      .string()
      .meta({ description: 'Of the mail servers; `other` for all that are of no large one.' }),
    source_ip: z.string().nullable(),
    mx_host: z.string().nullable(),
    domain: z.string(),
    reply: z.string().meta({ description: 'The first such reply of the hour.' }),
    created_at: timeSchema,
  })
  .meta({ id: 'Alert' })

export function alertView({ kind, provider, sourceIp, mxHost, domain, reply, raisedAt }: OperatorAlertRow) {
  return {
    object: 'alert' as const,
    kind,
    provider,
    source_ip: sourceIp === '' ? null : sourceIp,
    mx_host: mxHost,
    domain,
    reply,
    created_at: timestamp(raisedAt),
  }
}
