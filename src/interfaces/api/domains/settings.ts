/**
 * Reads the name, the region and the settings of a domain from requests that create, change or claim one, in
 * the spellings of the contract and of the SDKs.
 */
import * as z from 'zod'
import { parseDomain } from '../../../protocols/smtp/address.ts'
import { codePointOf, forbiddenInDomain } from '../../../protocols/smtp/domain-characters.ts'
import { claimFault, type OwnNames } from '../../../resources/domains/claimable.ts'
import type { DomainChanges } from '../../../resources/domains/commands.ts'
import { RETURN_PATH_LABEL } from '../../../resources/domains/dns-records.ts'
import { invalidField } from '../api-error.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { capabilitySchema, tlsSchema } from './schema.ts'

export const DEFAULT_REGION = 'us-west-2'

/** Settings that every request about a domain may have. */
export const trackingSettings = {
  open_tracking: z.boolean().optional(),
  click_tracking: z.boolean().optional(),
  tracking_subdomain: z
    .string()
    .optional()
    .meta({ description: 'For example `links`. An empty string means the shared tracking host.' }),
  custom_return_path: z
    .string()
    .optional()
    .meta({
      description: `Only \`${RETURN_PATH_LABEL}\` is accepted: return paths are always at that subdomain.`,
    }),
}

/** A misspelt capability would otherwise leave the domain as it is. */
const capabilitiesSchema = z
  .looseObject({ sending: capabilitySchema.nullish(), receiving: capabilitySchema.nullish() })
  .refine(capabilities => unknownCapability(capabilities) === undefined, {
    error: ({ input }) =>
      `must contain only \`sending\` and \`receiving\`; got ${shownValue(unknownCapability(input as object))}`,
  })

function unknownCapability(capabilities: object): string | undefined {
  return Object.keys(capabilities).find(key => key !== 'sending' && key !== 'receiving')
}

/** Settings of requests that create or change a domain. */
export const domainSettings = {
  ...trackingSettings,
  tls: z
    .string()
    .toLowerCase()
    .pipe(tlsSchema)
    .optional()
    .meta({ enum: tlsSchema.options, description: 'Read in any case.' }),
  receiving: z.boolean().optional().meta({ description: 'Alias of `capabilities.receiving`.' }),
  capabilities: capabilitiesSchema.optional(),
}

interface WantedSettings {
  tls?: z.output<typeof tlsSchema> | undefined
  openTracking?: boolean | undefined
  clickTracking?: boolean | undefined
  trackingSubdomain?: string | undefined
  customReturnPath?: string | undefined
  receiving?: boolean | undefined
  capabilities?: z.output<typeof domainSettings.capabilities>
}

/**
 * @param text the name as given
 * @returns the name in A-labels
 * @throws ApiError 422
 */
export function readDomainName(text: string, own: OwnNames): string {
  const name = parseDomain(text.trim())
  if (name === undefined) {
    const character = forbiddenInDomain(text)
    const reason = character && ` No domain may have the character ${codePointOf(character)}.`
    throw invalidField(
      'name',
      `\`name\` must be a domain, such as mail.acme.example; got ${shownValue(text)}.${reason ?? ''}`,
    )
  }
  const fault = claimFault(name, own)
  if (fault !== undefined) throw invalidField('name', fault)
  return name
}

/** @throws ApiError 422 */
export function requireRegion(region: string, regions: readonly string[]): void {
  if (regions.includes(region)) return
  throw invalidField(
    'region',
    `\`region\` must be one of ${regions.join(', ')}; got ${shownValue(region)}.`,
    'invalid_region',
  )
}

/**
 * @param name the domain's name
 * @returns the settings that the request has
 * @throws ApiError 422
 */
export function readSettings(wanted: WantedSettings, name: string): DomainChanges {
  const { tls, openTracking, clickTracking, trackingSubdomain, customReturnPath, capabilities } = wanted
  if (customReturnPath !== undefined && customReturnPath.trim().toLowerCase() !== RETURN_PATH_LABEL)
    throw invalidField(
      'custom_return_path',
      `\`custom_return_path\` must be \`${RETURN_PATH_LABEL}\`, the subdomain of every domain's return paths; got ${shownValue(customReturnPath)}.`,
    )
  const receiving = readReceiving(wanted)
  const sending = capabilities?.sending
  return {
    ...(tls !== undefined && { tls }),
    ...(openTracking !== undefined && { openTracking: openTracking ? 1 : 0 }),
    ...(clickTracking !== undefined && { clickTracking: clickTracking ? 1 : 0 }),
    ...(trackingSubdomain !== undefined && { trackingSubdomain: subdomainOf(trackingSubdomain, name) }),
    ...(sending && { sending: sending === 'enabled' ? 1 : 0 }),
    ...(receiving !== undefined && { receiving: receiving ? 1 : 0 }),
  }
}

/** Reads one setting that has two spellings. */
function readReceiving({ receiving, capabilities }: WantedSettings): boolean | undefined {
  const word = capabilities?.receiving
  if (!word) return receiving
  const isWanted = word === 'enabled'
  if (receiving !== undefined && receiving !== isWanted)
    throw invalidField(
      'capabilities.receiving',
      '`capabilities.receiving` contradicts `receiving`, which is the same setting.',
    )
  return isWanted
}

/** Returns null for an empty string. `send` and names that begin with an underscore have other records. */
function subdomainOf(text: string, name: string): string | null {
  if (text.trim() === '') return null
  const host = parseDomain(`${text.trim()}.${name}`)
  const subdomain = host?.slice(0, -name.length - 1)
  if (subdomain === undefined || subdomain === RETURN_PATH_LABEL || /(?:^|\.)_/.test(subdomain))
    throw invalidField(
      'tracking_subdomain',
      `\`tracking_subdomain\` must be a subdomain of ${name} that is not otherwise in use, such as \`links\`.`,
    )
  return subdomain
}
