/**
 * Creates the records of a domain in its zone at the customer's DNS provider. In: the domain and an API
 * token, which is never stored. Out: the result per record. Called by the API's `autoconfigure-routes.ts`.
 */
import { type Id, idKey } from '../../../lib/ids.ts'
import { createKeyedLock } from '../../../lib/keyed-lock.ts'
import { createSemaphore } from '../../../lib/semaphore.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { CheckSessions } from '../check-session.ts'
import type { LinkPlace } from '../checks/tracking-host.ts'
import { allRecordsOf, type DomainDnsRecord } from '../dns-records.ts'
import { findDomain } from '../domain-rows.ts'
import { type Placed, placeRecord } from './place.ts'
import { type DnsProvider, ProviderFault } from './provider.ts'

export interface Autoconfigured {
  /** Name of the zone. */
  zone: string
  records: (Pick<DomainDnsRecord, 'record' | 'type' | 'host'> & Placed)[]
}

/** Reason why nothing was done, for users. */
interface NotAutoconfigured {
  refused: string
  /** Whether another token could succeed. */
  isTokensFault: boolean
}

interface AutoconfigureRequest {
  accountId: Id
  id: Id
  token: string
  mergeSpf: boolean
}

/**
 * Resolves to undefined if the account has no such domain.
 * @throws TooManyWaiting
 */
export type Autoconfigure = (
  request: AutoconfigureRequest,
) => Promise<Autoconfigured | NotAutoconfigured | undefined>

interface AutoconfigureOptions {
  db: Db
  provider: DnsProvider
  inquiries: CheckSessions
  mailHost: string
  linkPlace: LinkPlace
}

const AT_ONCE = 8
const WAITING_MAX = 32

export function createAutoconfigure(options: AutoconfigureOptions): Autoconfigure {
  const slots = createSemaphore(AT_ONCE, WAITING_MAX)
  const lock = createKeyedLock()
  return request =>
    slots.run(() =>
      // two concurrent runs would both find no record and create duplicates
      lock(idKey(request.id), () => autoconfigure(options, request)),
    )
}

async function autoconfigure(
  { db, provider, inquiries, mailHost, linkPlace }: AutoconfigureOptions,
  { accountId, id, token, mergeSpf }: AutoconfigureRequest,
): Promise<Autoconfigured | NotAutoconfigured | undefined> {
  const domain = await findDomain(db, accountId, id)
  if (!domain) return undefined
  const inquiry = inquiries.open()
  try {
    const zone = await provider.findZone(token, domain.name)
    if (!zone)
      return {
        refused: `The DNS API token has no access to a zone that contains ${domain.name}.`,
        isTokensFault: true,
      }
    const options = { zone, mailHost, mergeSpf, witness: inquiry.resolvers[0]! }
    const records: Autoconfigured['records'] = []
    for (const each of allRecordsOf(domain, mailHost, linkPlace)) {
      const { record, type, host } = each
      records.push({ record, type, host, ...(await placeRecord(each, options)) })
    }
    return { zone: zone.name, records }
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error
    return { refused: error.message, isTokensFault: error.kind === 'token' }
  } finally {
    inquiry.close()
  }
}
