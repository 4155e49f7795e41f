/** Serves sending domains: register, list, verify, update and delete. */
import * as z from 'zod'
import { type Id, wireId } from '../../../lib/ids.ts'
import type { DomainRefusal } from '../../../resources/domains/commands.ts'
import type { DomainWithKeys } from '../../../resources/domains/domain-rows.ts'
import type { Domains } from '../../../resources/domains/domains.ts'
import { ApiError, invalidField, orNotFound } from '../api-error.ts'
import { created, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { bodyReader } from '../schema/read.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import { brandingChangesSchema, readBranding } from './branding.ts'
import { type DomainViewOptions, domainSchema, domainView, verifiedDomainSchema } from './schema.ts'
import { DEFAULT_REGION, domainSettings, readDomainName, readSettings, requireRegion } from './settings.ts'

interface DomainRoutesOptions {
  domains: Domains
  registration: DomainRegistration
}

/** Registers domains, for `POST /domains` and for the command line. */
export interface DomainRegistration {
  /**
   * @param body that of `POST /domains`
   * @throws ApiError
   */
  register(accountId: Id, body: unknown): Promise<DomainView>
  view(domain: DomainWithKeys): DomainView
}

type DomainView = ReturnType<typeof domainView>

interface RegistrationOptions extends DomainViewOptions {
  domains: Domains
  simulatorDomain: string
  pendingMax: number
  regions: readonly string[]
}

const createDomainSchema = z.object({ name: z.string(), region: z.string().optional(), ...domainSettings })
const readCreateDomain = bodyReader(createDomainSchema)
const changeDomainSchema = z.object({ ...domainSettings, branding: brandingChangesSchema.optional() })
const readChangeDomain = bodyReader(changeDomainSchema)

export function domainRoutes(options: DomainRoutesOptions): Route[] {
  const { domains, registration } = options
  const { view } = registration
  return [
    createRoute(registration),
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
        const id = pathId(request, 'dom')
        return ok(view(orNotFound(await domains.find(request.credential.accountId, id), 'Domain')))
      },
    },
    {
      method: 'POST',
      path: '/domains/:id/verify',
      access: 'session',
      summary: 'Verify the DNS records of a sending domain now',
      replies: { 200: verifiedDomainSchema },
      async handle(request) {
        const id = pathId(request, 'dom')
        const { domain, checks } = orNotFound(
          await domains.verify(request.credential.accountId, id),
          'Domain',
        )
        return ok({ ...view(domain), checks })
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
        const id = pathId(request, 'dom')
        orNotFound(await domains.delete(request.credential.accountId, id), 'Domain')
        return ok({ object: 'domain', id: wireId('dom', id), deleted: true })
      },
    },
  ]
}

function createRoute({ register }: DomainRegistration): Route {
  return {
    method: 'POST',
    path: '/domains',
    access: 'session',
    summary: 'Register a sending domain',
    body: createDomainSchema,
    notApplied: { branding: 'A domain is created without branding. Set it with `PATCH /domains/:id`.' },
    replies: { 201: domainSchema },
    async handle(request) {
      return created(await register(request.credential.accountId, await request.body()))
    },
  }
}

export function createRegistration(options: RegistrationOptions): DomainRegistration {
  const { domains, mailHost, simulatorDomain, pendingMax, regions } = options
  const view = (domain: DomainWithKeys) => domainView(domain, options)
  return {
    view,
    async register(accountId, body) {
      const { name: text, region = DEFAULT_REGION, ...wanted } = readCreateDomain(body)
      const name = readDomainName(text, { mailHost, simulatorDomain })
      requireRegion(region, regions)
      const domain = await domains.create(accountId, name, region, readSettings(wanted, name))
      if (typeof domain === 'string') throw refusedDomain(domain, { name, pendingMax })
      return view(domain)
    },
  }
}

/** Turns the refusal of a registration into an error. */
export function refusedDomain(
  refusal: DomainRefusal,
  { name, pendingMax }: { name: string; pendingMax: number },
): ApiError {
  switch (refusal) {
    case 'banned':
      return invalidField(
        'name',
        `The domain ${name} is banned by the operator of this service, so it cannot be added.`,
      )
    case 'exists':
      return invalidField('name', `The domain ${name} is already registered in this account.`)
    case 'verified-elsewhere':
      return invalidField(
        'name',
        `The domain ${name} is already verified by another account. If you own it, claim it with \`POST /domains/claim\`.`,
      )
    case 'too-many':
      return new ApiError(422, 'validation_error', tooManyPending(pendingMax))
  }
}

function tooManyPending(max: number): string {
  const domains = max === 1 ? 'domain that is' : 'domains that are'
  return `An account may have ${max} ${domains} not verified. Verify or delete some first.`
}

function changeRoute(domains: Domains, view: (domain: DomainWithKeys) => object): Route {
  return {
    method: 'PATCH',
    path: '/domains/:id',
    access: 'session',
    summary: 'Update the settings of a sending domain',
    body: changeDomainSchema,
    emptyRemoves: ['tracking_subdomain'],
    replies: { 200: domainSchema },
    async handle(request) {
      const { accountId } = request.credential
      const id = pathId(request, 'dom')
      const { branding, ...wanted } = readChangeDomain(await request.body())
      const { name } = orNotFound(await domains.find(accountId, id), 'Domain')
      const brand = readBranding(branding)
      const changed = await domains.change(accountId, id, readSettings(wanted, name), brand)
      return ok(view(orNotFound(changed, 'Domain')))
    },
  }
}
