/** Serves sending domains: register, list, verify, update and delete. */
import * as z from 'zod'
import { parseWireId, wireId } from '../../../lib/ids.ts'
import { parseDomain } from '../../../protocols/smtp/address.ts'
import { claimFault } from '../../../resources/domains/claimable.ts'
import type { DomainChanges } from '../../../resources/domains/commands.ts'
import type { DomainWithKeys } from '../../../resources/domains/domain-rows.ts'
import type { Domains } from '../../../resources/domains/domains.ts'
import type { LinkPlace } from '../../../resources/domains/tracking-host.ts'
import { ApiError, invalidField, notFound } from '../api-error.ts'
import { type ApiRequest, created, ok, pageReply, type Route } from '../route.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { bodyReader } from '../schema/read.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import { domainSchema, domainView, tlsSchema, verifiedDomainSchema } from './schema.ts'

interface DomainRoutesOptions {
  domains: Domains
  mailHost: string
  simulatorDomain: string
  pendingMax: number
  linkPlace: LinkPlace
  regions: readonly string[]
}

const settings = {
  tls: tlsSchema.optional(),
  open_tracking: z.boolean().optional(),
  click_tracking: z.boolean().optional(),
  tracking_subdomain: z
    .string()
    .optional()
    .meta({ description: 'For example `links`. An empty string means the shared tracking host.' }),
}
const createDomainSchema = z.object({ name: z.string(), region: z.string().optional(), ...settings })
const readCreateDomain = bodyReader(createDomainSchema)
const changeDomainSchema = z.object({ ...settings, receiving: z.boolean().optional() })
const readChangeDomain = bodyReader(changeDomainSchema)
const DEFAULT_REGION = 'us-west-2'

export function domainRoutes(options: DomainRoutesOptions): Route[] {
  const { domains, mailHost, linkPlace } = options
  const view = (domain: DomainWithKeys) => domainView(domain, mailHost, linkPlace)
  return [
    createRoute(options, view),
    {
      method: 'GET',
      path: '/domains',
      access: 'session',
      summary: 'List sending domains',
      query: cursorPageQuery('dom'),
      replies: { 200: listSchema(domainSchema) },
      async handle({ query, credential: { accountId } }) {
        const page = readCursorPage(query, 'dom', 'a domain')
        return pageReply(await domains.list(accountId, page), view)
      },
    },
    {
      method: 'GET',
      path: '/domains/:id',
      access: 'session',
      summary: 'Retrieve a sending domain and its DNS records',
      replies: { 200: domainSchema },
      async handle(request) {
        const domain = await domains.find(request.credential.accountId, idOf(request))
        if (!domain) throw notFound('Domain')
        return ok(view(domain))
      },
    },
    {
      method: 'POST',
      path: '/domains/:id/verify',
      access: 'session',
      summary: 'Verify the DNS records of a sending domain now',
      replies: { 200: verifiedDomainSchema },
      async handle(request) {
        const verified = await domains.verify(request.credential.accountId, idOf(request))
        if (!verified) throw notFound('Domain')
        return ok({ ...view(verified.domain), checks: verified.checks })
      },
    },
    changeRoute(domains, view),
    {
      method: 'DELETE',
      path: '/domains/:id',
      access: 'session',
      summary: 'Delete a sending domain, its DKIM keys and its API keys; its queued emails fail',
      replies: { 200: deletedSchema('domain', 'dom') },
      async handle(request) {
        const id = idOf(request)
        if (!(await domains.delete(request.credential.accountId, id))) throw notFound('Domain')
        return ok({ object: 'domain', id: wireId('dom', id), deleted: true })
      },
    },
  ]
}

function createRoute(
  { domains, mailHost, simulatorDomain, pendingMax, regions }: DomainRoutesOptions,
  view: (domain: DomainWithKeys) => object,
): Route {
  return {
    method: 'POST',
    path: '/domains',
    access: 'session',
    summary: 'Register a sending domain',
    body: createDomainSchema,
    replies: { 201: domainSchema },
    async handle(request) {
      const { name: text, region = DEFAULT_REGION, ...wanted } = readCreateDomain(await request.body())
      const name = parseDomain(text.trim())
      if (name === undefined)
        throw invalidField('name', `\`name\` must be a domain name; got ${shownValue(text)}.`)
      const fault = claimFault(name, { mailHost, simulatorDomain })
      if (fault !== undefined) throw invalidField('name', fault)
      if (!regions.includes(region))
        throw invalidField(
          'region',
          `\`region\` must be one of ${regions.join(', ')}; got ${shownValue(region)}.`,
          'invalid_region',
        )
      const domain = await domains.create(
        ...([request.credential.accountId, name, region] as const),
        settingsOf(wanted, name),
      )
      if (domain === 'exists')
        throw invalidField('name', `The domain ${name} is already registered in this account.`)
      if (domain === 'verified-elsewhere')
        throw invalidField('name', `The domain ${name} is already verified by another account.`)
      if (domain === 'too-many') throw new ApiError(422, 'validation_error', tooManyPending(pendingMax))
      return created(view(domain))
    },
  }
}

function tooManyPending(most: number): string {
  const domains = most === 1 ? 'domain that is' : 'domains that are'
  return `An account may have ${most} ${domains} not verified. Verify or delete some first.`
}

function changeRoute(domains: Domains, view: (domain: DomainWithKeys) => object): Route {
  return {
    method: 'PATCH',
    path: '/domains/:id',
    access: 'session',
    summary: 'Update the settings of a sending domain',
    body: changeDomainSchema,
    replies: { 200: domainSchema },
    async handle(request) {
      const { accountId } = request.credential
      const id = idOf(request)
      const { receiving, ...wanted } = readChangeDomain(await request.body())
      const found = await domains.find(accountId, id)
      if (!found) throw notFound('Domain')
      const changes = {
        ...settingsOf(wanted, found.name),
        ...(receiving !== undefined && { receiving: receiving ? (1 as const) : (0 as const) }),
      }
      const domain = await domains.change(accountId, id, changes)
      if (!domain) throw notFound('Domain')
      return ok(view(domain))
    },
  }
}

type Settings = Omit<ReturnType<typeof readChangeDomain>, 'receiving'>

function settingsOf(
  { tls, openTracking, clickTracking, trackingSubdomain }: Settings,
  name: string,
): DomainChanges {
  return {
    ...(tls !== undefined && { tls }),
    ...(openTracking !== undefined && { openTracking: openTracking ? 1 : 0 }),
    ...(clickTracking !== undefined && { clickTracking: clickTracking ? 1 : 0 }),
    ...(trackingSubdomain !== undefined && { trackingSubdomain: subdomainOf(trackingSubdomain, name) }),
  }
}

/**
 * Returns null for an empty string. `send` and names that begin with an underscore have other records and are
 * refused.
 */
function subdomainOf(text: string, name: string): string | null {
  if (text.trim() === '') return null
  const host = parseDomain(`${text.trim()}.${name}`)
  const subdomain = host?.slice(0, -name.length - 1)
  if (subdomain === undefined || /^send$|(?:^|\.)_/.test(subdomain))
    throw invalidField(
      'tracking_subdomain',
      `\`tracking_subdomain\` must be a subdomain of ${name} that is not otherwise in use, such as \`links\`.`,
    )
  return subdomain
}

function idOf({ params }: ApiRequest) {
  const id = parseWireId('dom', params.id!)
  if (!id) throw notFound('Domain')
  return id
}
