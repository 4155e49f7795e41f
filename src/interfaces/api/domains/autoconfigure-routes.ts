/**
 * Creates the records of a domain in its zone at the DNS provider of the customer. The token is used for this
 * request only.
 */
import * as z from 'zod'
import type { Autoconfigure, Autoconfigured } from '../../../resources/domains/autoconfigure/autoconfigure.ts'
import type { Domains } from '../../../resources/domains/domains.ts'
import { ApiError, invalidField, orNotFound } from '../api-error.ts'
import { ok, pathId, type Route } from '../route/route.ts'
import { bodyReader } from '../schema/read.ts'

/** Characters that a header value may contain. */
const TOKEN = /^[!-~]{1,1000}$/

const autoconfigureSchema = z.object({
  dns_api_token: z
    .string()
    .trim()
    .regex(TOKEN, 'must contain only visible ASCII characters')
    .meta({ description: 'Token with the permissions Zone: Read and DNS: Edit; it is not stored.' }),
  merge_spf: z.boolean().optional(),
})
const readAutoconfigure = bodyReader(autoconfigureSchema)

const autoconfiguredSchema: z.ZodType<Autoconfigured> = z.object({
  zone: z.string(),
  records: z.array(
    z.object({
      record: z.enum(['Verification', 'DKIM 1', 'DKIM 2', 'DKIM 3', 'SPF', 'MX']),
      type: z.enum(['TXT', 'CNAME', 'MX']),
      host: z.string(),
      status: z.enum(['created', 'already_exists', 'conflict', 'failed']),
      message: z.string().exactOptional(),
    }),
  ),
})

interface DomainAutoconfigureOptions {
  domains: Pick<Domains, 'find'>
  autoconfigure: Autoconfigure
}

export function domainAutoconfigureRoutes({ domains, autoconfigure }: DomainAutoconfigureOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/domains/:id/autoconfigure',
      access: 'session',
      summary: 'Create the DNS records in the zone at the DNS provider',
      body: autoconfigureSchema,
      replies: { 200: autoconfiguredSchema },
      async handle(request) {
        const id = pathId(request, 'dom')
        const { accountId } = request.credential
        orNotFound(await domains.find(accountId, id), 'Domain')
        const { dnsApiToken: token, mergeSpf = false } = readAutoconfigure(await request.body())
        const done = orNotFound(await autoconfigure({ accountId, id, token, mergeSpf }), 'Domain')
        if (!('refused' in done)) return ok(done)
        if (done.isTokensFault) throw invalidField('dns_api_token', done.refused)
        throw new ApiError(503, 'application_error', done.refused, { headers: { 'retry-after': '60' } })
      },
    },
  ]
}
