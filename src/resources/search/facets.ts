/** Search keys of emails: terms, and the folded subject. */
import { foldText } from '../../lib/fold-text.ts'
import { type Id, idText } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { EmailRow, EmailStatus } from '../../store/model/schema.ts'
import { parseStoredMailboxes } from '../emails/email-rows.ts'

/** The emails that a search may see. */
export interface Scope {
  accountId: Id
  /** Epoch ms; emails that ended at or before it are not visible. */
  horizon: number
  /** Only emails of this sending domain are visible; null for all domains. */
  domain: string | null
}

/** An email matches if all given conditions hold. */
export interface EmailFilter {
  status?: EmailStatus | undefined
  /** Part of the subject, compared without regard to case. */
  subject?: string | undefined
  /** Bare addresses, compared without regard to case. */
  from?: string | undefined
  to?: string | undefined
  /** Name of a tag, or `name:value`. */
  tag?: string | undefined
  /** Domain of the sender. */
  domain?: string | undefined
  broadcastId?: Id | undefined
  /** API key that the email was sent with. */
  apiKeyId?: Id | undefined
  source?: IndexedOrigin | undefined
  /** Epoch ms, included. */
  createdFrom?: number | undefined
  /** Epoch ms, excluded. */
  createdBefore?: number | undefined
}

/** Origin of an email: an API request with a key, SMTP, a broadcast, or a session of the dashboard. */
export const EMAIL_ORIGINS = ['api', 'smtp', 'broadcast', 'dashboard'] as const
type IndexedOrigin = (typeof EMAIL_ORIGINS)[number]

/** A filter with the terms that an email must have. */
export type SearchQuery = EmailFilter & { terms: readonly string[] }

/** Columns from which terms and subject are derived. */
export const FACET_COLUMNS = [
  'sender',
  'toList',
  'tags',
  'subject',
  'broadcastId',
  'apiKeyId',
  'raw',
] as const
export type FacetSource = Pick<EmailRow, (typeof FACET_COLUMNS)[number]>

/** Folds a subject like all text, and replaces U+0000, which separates subjects. */
export function foldSubject(text: string): string {
  return foldText(text).replaceAll('\0', '\ufffd')
}

export function termsOf(row: FacetSource): Set<string> {
  const [from] = parseStoredMailboxes(row.sender)
  const terms = new Set([fromTerm(from!.address), domainTerm(from!.domain)])
  for (const { address } of parseStoredMailboxes(row.toList)) terms.add(toTerm(address))
  if (row.tags !== null) for (const term of tagTerms(row.tags)) terms.add(term)
  if (row.broadcastId) terms.add(broadcastTerm(row.broadcastId))
  if (row.apiKeyId) terms.add(keyTerm(row.apiKeyId))
  terms.add(originTerm(originOf(row)))
  return terms
}

function originOf({ broadcastId, raw, apiKeyId }: FacetSource): IndexedOrigin {
  if (broadcastId) return 'broadcast'
  if (raw) return 'smtp'
  return apiKeyId ? 'api' : 'dashboard'
}

export function termsWanted(scope: Scope, filter: EmailFilter): string[] {
  const { from, to, tag, domain, broadcastId, apiKeyId, source } = filter
  const wanted: string[] = []
  if (scope.domain !== null) wanted.push(domainTerm(scope.domain))
  if (from !== undefined) wanted.push(fromTerm(from))
  if (to !== undefined) wanted.push(toTerm(to))
  if (tag !== undefined) wanted.push(tagTerm(tag))
  if (domain !== undefined) wanted.push(domainTerm(domain))
  if (broadcastId !== undefined) wanted.push(broadcastTerm(broadcastId))
  if (apiKeyId !== undefined) wanted.push(keyTerm(apiKeyId))
  if (source !== undefined) wanted.push(originTerm(source))
  return wanted
}

/** Tags of the form `{name, value}` have one term for the name and one for name and value. */
function tagTerms(json: string): string[] {
  const tags = JSON.parse(json) as Record<string, unknown>[]
  return tags.flatMap(({ name, value }) => {
    if (typeof name !== 'string') return []
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return isPlain ? [tagTerm(name), tagTerm(`${name}:${value}`)] : [tagTerm(name)]
  })
}

const fromTerm = (address: string) => `from ${foldAddress(address)}`
const toTerm = (address: string) => `to ${foldAddress(address)}`
const tagTerm = (text: string) => `tag ${text.replaceAll('\0', '\ufffd')}`
const domainTerm = (name: string) => `domain ${name}`
const broadcastTerm = (id: Id) => `broadcast ${idText(id)}`
const keyTerm = (id: Id) => `key ${idText(id)}`
const originTerm = (source: IndexedOrigin) => `source ${source}`
