/** Serves claims to domains that another account has verified, in the form of the SDKs. */
import * as z from 'zod'
import type { Id } from '../../../lib/ids.ts'
import type { OwnNames } from '../../../resources/domains/claimable.ts'
import type { DomainClaim, DomainClaims } from '../../../resources/domains/claims.ts'
import { type ApiError, invalidField, orNotFound } from '../api-error.ts'
import { type ApiRequest, created, ok, pathId, type Route } from '../route/route.ts'
import { bodyReader } from '../schema/read.ts'
import { claimSchema, claimView } from './claim-schema.ts'
import { refusedDomain } from './routes.ts'
import { readDomainName, readSettings, requireRegion, trackingSettings } from './settings.ts'

interface DomainClaimRoutesOptions {
  claims: DomainClaims
  ownNames: OwnNames
  regions: readonly string[]
  pendingMax: number
  now(): number
}

const newClaimSchema = z.object({ name: z.string(), region: z.string().optional(), ...trackingSettings })
const readNewClaim = bodyReader(newClaimSchema)

export function domainClaimRoutes(options: DomainClaimRoutesOptions): Route[] {
  const { claims, ownNames, regions, now } = options
  const view = (claim: DomainClaim | undefined) => claimView(orNotFound(claim, 'Domain claim'), now())
  return [
    {
      method: 'POST',
      path: '/domains/claim',
      access: 'session',
      summary: 'Claim a domain that another account has verified',
      body: newClaimSchema,
      replies: { 201: claimSchema },
      async handle(request) {
        const { name: text, region, ...wanted } = readNewClaim(await request.body())
        const name = readDomainName(text, ownNames)
        if (region !== undefined) requireRegion(region, regions)
        const { accountId } = request.credential
        const claim = await claims.create(accountId, { name, region, settings: readSettings(wanted, name) })
        if (typeof claim === 'string') throw refusedClaim(claim, name, options)
        return created(view(claim))
      },
    },
    {
      method: 'GET',
      path: '/domains/:id/claim',
      access: 'session',
      summary: 'Retrieve the newest claim of a domain',
      replies: { 200: claimSchema },
      async handle(request) {
        return ok(view(await claims.find(request.credential.accountId, idOf(request))))
      },
    },
    {
      method: 'POST',
      path: '/domains/:id/claim/verify',
      access: 'session',
      summary: 'Verify the TXT record of a claim now; if it is found, the name moves to this account',
      replies: { 200: claimSchema },
      async handle(request) {
        return ok(view(await claims.verify(request.credential.accountId, idOf(request))))
      },
    },
  ]
}

/** @throws ApiError 404 */
function idOf(request: ApiRequest): Id {
  return pathId(request, 'dom', 'id', 'Domain claim')
}

function refusedClaim(
  refusal: Exclude<Awaited<ReturnType<DomainClaims['create']>>, DomainClaim>,
  name: string,
  { pendingMax }: DomainClaimRoutesOptions,
): ApiError {
  switch (refusal) {
    case 'not-held':
      return invalidField(
        'name',
        `The domain ${name} is not verified by another account. Add it with \`POST /domains\`.`,
      )
    case 'verified':
      return invalidField('name', `The domain ${name} is already verified by this account.`)
    case 'other-region':
      return invalidField('region', `The domain ${name} is already registered here in another region.`)
    default:
      return refusedDomain(refusal, { name, pendingMax })
  }
}
