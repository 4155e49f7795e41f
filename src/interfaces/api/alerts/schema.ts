/** Schemas of alerts. */
import * as z from 'zod'
import { MACHINE_ALERTS } from '../../../resources/alerts/operator-alerts.ts'
import type { OperatorAlertRow } from '../../../store/model/schema/alerts.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

export const alertSchema = z
  .object({
    object: z.literal('alert'),
    kind: z.string().meta({
      description:
        '`ip-reputation`, `authentication`, `smart-host-login`, `certificate`, `mta-sts`, `account-bounces`, `account-complaints`, `task-parked`, `database-damaged`, `disk-space`, `disk-sync`, `certificate-expiry`, `clock` or `backup`',
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
    created_at: timeSchema,
  })
  .meta({ id: 'Alert' })

/** @param nameOf returns the name of an account by its id; undefined for one that was deleted */
export function alertView(row: OperatorAlertRow, nameOf: (id: string) => string | undefined) {
  const { kind, provider, sourceIp, mxHost, domain, reply, raisedAt, endedAt } = row
  const isOfAccount = kind.startsWith('account-')
  return {
    object: 'alert' as const,
    kind,
    provider: isOfAccount || provider === '' ? null : provider,
    account_id: isOfAccount ? provider : null,
    account_name: isOfAccount ? (nameOf(provider) ?? null) : null,
    source_ip: sourceIp === '' ? null : sourceIp,
    mx_host: mxHost,
    domain: domain === '' ? null : domain,
    reply,
    active: MACHINE_ALERTS.some(lasting => lasting === kind) ? endedAt === null : null,
    created_at: timestamp(raisedAt),
  }
}
