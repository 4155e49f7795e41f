/** Search keys of emails: terms, the folded subject, and the folded details. */
import { foldText } from '../../lib/fold-text.ts'
import { type Id, idText } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { EmailRow, EmailStatus } from '../../store/model/schema.ts'
import { hasOwnMessageId, parseStoredMailboxes } from '../emails/email-rows.ts'
import type { SearchWord } from './words.ts'

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
  /** Words of which each occurs in the subject or the details, or is the email's id. */
  words?: readonly SearchWord[] | undefined
  /** Bare addresses, compared without regard to case. */
  from?: string | undefined
  to?: string | undefined
  /** Name of a tag, or `name:value`. */
  tag?: string | undefined
  /** Domain of the sender. */
  domain?: string | undefined
  broadcastId?: Id | undefined
  templateId?: Id | undefined
  /** API key that the email was sent with. */
  apiKeyId?: Id | undefined
  source?: IndexedOrigin | undefined
  /** Destination that a recipient's domain is known to belong to. */
  destination?: string | undefined
  /** Epoch ms, included. */
  createdFrom?: number | undefined
  /** Epoch ms, excluded. */
  createdBefore?: number | undefined
}

/** Origin of an email: an API request with a key, SMTP, a broadcast, or a session of the dashboard. */
export const EMAIL_ORIGINS = ['api', 'smtp', 'broadcast', 'dashboard'] as const
type IndexedOrigin = (typeof EMAIL_ORIGINS)[number]

/** A filter with the terms that an email must have. */
export interface SearchQuery extends EmailFilter {
  terms: readonly string[]
  /** Terms of which the email must have at least one; undefined if it needs none. */
  anyOf?: ReadonlySet<string> | undefined
}

/** Columns from which terms, subject and details are derived. */
export const FACET_COLUMNS = [
  'id',
  'sender',
  'toList',
  'ccList',
  'bccList',
  'tags',
  'subject',
  'messageId',
  'broadcastId',
  'templateId',
  'apiKeyId',
  'raw',
] as const
export type FacetSource = Pick<EmailRow, (typeof FACET_COLUMNS)[number]>

/** Folds a subject like all text, and replaces U+0000, which separates subjects. */
export function foldSubject(text: string): string {
  return foldText(text).replaceAll('\0', '\ufffd')
}

/**
 * Returns all that a search for any email compares besides the subject, folded: names and addresses of the
 * sender and the recipients, tags as `name:value`, and the Message-ID unless it is made of the email's id.
 */
export function detailsOf(row: FacetSource): string {
  const mailboxes = [row.sender, row.toList, row.ccList, row.bccList].flatMap(parseStoredMailboxes)
  const details = mailboxes.flatMap(({ name, address }) => (name === null ? [address] : [name, address]))
  if (row.tags !== null) for (const names of tagNames(row.tags)) details.push(names.at(-1)!)
  if (!hasOwnMessageId(row)) details.push(row.messageId)
  return foldSubject(details.join('\n'))
}

export function termsOf(row: FacetSource): Set<string> {
  const [from] = parseStoredMailboxes(row.sender)
  const terms = new Set([fromTerm(from!.address), domainTerm(from!.domain)])
  for (const { address } of parseStoredMailboxes(row.toList)) terms.add(toTerm(address))
  for (const { domain } of [row.toList, row.ccList, row.bccList].flatMap(parseStoredMailboxes))
    terms.add(recipientTerm(domain))
  if (row.tags !== null) for (const name of tagNames(row.tags).flat()) terms.add(tagTerm(name))
  if (row.broadcastId) terms.add(broadcastTerm(row.broadcastId))
  if (row.templateId) terms.add(templateTerm(row.templateId))
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
  const { from, to, tag, domain, broadcastId, templateId, apiKeyId, source } = filter
  const wanted: string[] = []
  if (scope.domain !== null) wanted.push(domainTerm(scope.domain))
  if (from !== undefined) wanted.push(fromTerm(from))
  if (to !== undefined) wanted.push(toTerm(to))
  if (tag !== undefined) wanted.push(tagTerm(tag))
  if (domain !== undefined) wanted.push(domainTerm(domain))
  if (broadcastId !== undefined) wanted.push(broadcastTerm(broadcastId))
  if (templateId !== undefined) wanted.push(templateTerm(templateId))
  if (apiKeyId !== undefined) wanted.push(keyTerm(apiKeyId))
  if (source !== undefined) wanted.push(originTerm(source))
  return wanted
}

/** Returns what each tag is found by: its name and, in the form `{name, value}`, name and value. */
function tagNames(json: string): string[][] {
  const tags = JSON.parse(json) as Record<string, unknown>[]
  return tags.flatMap(({ name, value }) => {
    if (typeof name !== 'string') return []
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return [isPlain ? [name, `${name}:${value}`] : [name]]
  })
}

const fromTerm = (address: string) => `from ${foldAddress(address)}`
const toTerm = (address: string) => `to ${foldAddress(address)}`
const tagTerm = (text: string) => `tag ${text.replaceAll('\0', '\ufffd')}`
const domainTerm = (name: string) => `domain ${name}`
const broadcastTerm = (id: Id) => `broadcast ${idText(id)}`
/** Beginning of the terms of recipients' domains. */
export const RECIPIENT_DOMAINS = 'rcpt '
export const recipientTerm = (domain: string) => `${RECIPIENT_DOMAINS}${domain}`
const templateTerm = (id: Id) => `template ${idText(id)}`
const keyTerm = (id: Id) => `key ${idText(id)}`
const originTerm = (source: IndexedOrigin) => `source ${source}`
