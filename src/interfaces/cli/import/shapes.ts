/** Neutral shapes of what an import brings: each provider is read into them, and one writer stores them. */

export const KINDS = ['domains', 'suppressions', 'templates', 'contacts', 'webhooks'] as const
export type Kind = (typeof KINDS)[number]

export interface SourceDomain {
  name: string
  openTracking?: boolean | undefined
  clickTracking?: boolean | undefined
  /** Whether mail is sent over TLS only. */
  enforcesTls?: boolean | undefined
  /** DNS records that the provider needed and the service does not. */
  formerRecords?: readonly { type: string; host: string }[]
}

export interface SourceSuppression {
  email: string
  reason: 'bounce' | 'complaint' | 'manual'
  /** Time of the entry in ms since the epoch; null if the provider does not tell it. */
  at: number | null
}

export interface SourceTemplate {
  /** Id at the provider. */
  id: string
  name: string
  alias: string | null
  from: string | null
  replyTo: readonly string[]
  subject: string | null
  html: string | null
  text: string | null
  /** Declared variables, as the API of the service takes them. */
  variables: readonly object[]
  isPublished: boolean
  /** Parts that could not be translated, each with its reason. */
  untranslated: readonly string[]
}

export interface SourceContact {
  email: string
  firstName: string | null
  lastName: string | null
  unsubscribed: boolean
  properties: Readonly<Record<string, unknown>>
  /** Choices by the names of topics. */
  topics?: ReadonlyMap<string, TopicChoice>
}

export type TopicChoice = 'opt_in' | 'opt_out'

export interface SourceTopic {
  name: string
  description: string | null
  /** What a contact without a choice has. */
  default: TopicChoice
}

/** Contacts of one list. A list may come in several parts. */
export interface SourceContacts {
  list: string
  /** Topics of the list, which its contacts choose among; they come with the first part of the list. */
  topics?: readonly SourceTopic[]
  contacts: readonly SourceContact[]
}

export interface SourceWebhook {
  url: string
  /** Event types of the service. */
  events: readonly string[]
  /** Events of the provider that the service does not have. */
  unknownEvents: readonly string[]
}

/** Reader of one provider. A kind that the provider does not have is absent. */
export interface ImportSource {
  domains?(): AsyncIterable<SourceDomain>
  suppressions?(): AsyncIterable<SourceSuppression>
  templates?(): AsyncIterable<SourceTemplate>
  contacts?(): AsyncIterable<SourceContacts>
  webhooks?(): AsyncIterable<SourceWebhook>
  /** Things of the account that no import brings, each as a sentence. */
  notes?(): Promise<readonly string[]>
}

/** Parses the time of a provider. */
export function timeOf(text: string | null | undefined): number | null {
  const at = text ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : at
}

/** Returns a contact of whom only is known that they left. */
export function leftContact(email: string): SourceContact {
  return { email, firstName: null, lastName: null, unsubscribed: true, properties: {} }
}

/** Splits the one name of a provider: the first word is the first name. */
export function namesIn(name: string | null | undefined): Pick<SourceContact, 'firstName' | 'lastName'> {
  const [first, ...others] = (name ?? '').trim().split(/\s+/)
  return { firstName: first || null, lastName: others.join(' ') || null }
}
