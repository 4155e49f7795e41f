/** Serves the TLS certificates of the listeners and tracking hosts to operators, and orders them at once. */
import * as z from 'zod'
import { invalidField } from '../api-error.ts'
import { requireOperator } from '../auth/operator.ts'
import { ok, type Route } from '../route/route.ts'
import { bodyReader } from '../schema/read.ts'
import { timeSchema } from '../schema/reply-schemas.ts'

const certificateSchema = z
  .object({
    host: z.string().meta({ description: 'Provider host, or tracking host.' }),
    source: z.enum(['authority', 'file', 'self_signed']).nullable().meta({
      description: 'Where the certificate in use comes from; null for a tracking host that has none yet.',
    }),
    names: z.array(z.string()),
    issuer: z.string().nullable(),
    valid_from: timeSchema.nullable(),
    expires_at: timeSchema.nullable(),
    order: z
      .object({
        status: z.enum(['waiting', 'in_progress', 'failed']),
        next_at: timeSchema,
        failed_at: timeSchema.nullable(),
        error: z.string().nullable().meta({ description: 'Reply of the authority to the last order.' }),
      })
      .nullable()
      .meta({ description: 'The next order at the certificate authority; null if none is configured.' }),
  })
  .meta({ id: 'Certificate' })

export type CertificateView = z.output<typeof certificateSchema>

const orderBody = z.object({ host: z.string().max(253) })
const readOrder = bodyReader(orderBody)

const IN_PROGRESS = 'An order is already in progress.'
const NO_AUTHORITY = 'No certificate authority is configured: `acme.enabled` is off.'

interface CertificateRoutesOptions {
  list(): Promise<CertificateView[]>
  /** @returns false while an order is in progress */
  order(host: string): Promise<boolean>
}

export function certificateRoutes({ list, order }: CertificateRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/installation/certificates',
      access: 'session',
      scopes: ['operator'],
      summary: 'List the TLS certificates: names, expiry and orders (operator)',
      replies: { 200: z.object({ object: z.literal('list'), data: z.array(certificateSchema) }) },
      async handle(request) {
        requireOperator(request)
        return ok({ object: 'list', data: await list() })
      },
    },
    {
      method: 'POST',
      path: '/installation/certificates/order',
      access: 'session',
      scopes: ['operator'],
      summary: 'Order a certificate at the certificate authority now (operator)',
      body: orderBody,
      replies: {
        200: z.object({
          object: z.literal('certificate_order'),
          host: z.string(),
          ordered: z.boolean(),
          reason: z.string().nullable().meta({ description: 'Why nothing was ordered.' }),
        }),
      },
      async handle(request) {
        requireOperator(request)
        const { host } = readOrder(await request.body())
        const known = (await list()).find(certificate => certificate.host === host)
        if (!known) throw invalidField('host', '`host` must be a host in the list of certificates.')
        const reason = known.order ? ((await order(host)) ? null : IN_PROGRESS) : NO_AUTHORITY
        return ok({ object: 'certificate_order', host, ordered: reason === null, reason })
      },
    },
  ]
}
