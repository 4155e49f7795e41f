/**
 * Reads an account of Amazon SES in one region, by version 2 of its API: identities, the suppression list of
 * the account, templates in a part of Handlebars, and the contact list with its topics. The API allows about
 * one request a second, and contacts come without their attributes, which take a request for each.
 */
import * as z from 'zod'
import { encoded } from '../../../../protocols/http-client/aws-signature.ts'
import { type Api, ApiFailure } from '../api.ts'
import { placeholder, type TranslateTag, translated } from '../placeholders.ts'
import { firstNames } from '../report.ts'
import type { ImportSource, SourceContact, SourceDomain, SourceTopic, TopicChoice } from '../shapes.ts'

const PAGE = 1_000
const TEMPLATES_PAGE = 100
const PATH = '/v2/email'

const identity = z.object({ IdentityName: z.string(), IdentityType: z.string() })
const identityDetails = z.object({
  ConfigurationSetName: z.string().nullish(),
  DkimAttributes: z
    .object({ Tokens: z.array(z.string()).nullish(), SigningAttributesOrigin: z.string().nullish() })
    .nullish(),
  MailFromAttributes: z.object({ MailFromDomain: z.string().nullish() }).nullish(),
})
const configurationSet = z.object({
  DeliveryOptions: z.object({ TlsPolicy: z.string().nullish() }).nullish(),
})
const suppressed = z.object({
  EmailAddress: z.string(),
  Reason: z.string(),
  /** Seconds since the epoch. */
  LastUpdateTime: z.number().nullish(),
})
const template = z.object({ TemplateName: z.string() })
const templateDetails = z.object({
  TemplateContent: z.object({
    Subject: z.string().nullish(),
    Html: z.string().nullish(),
    Text: z.string().nullish(),
  }),
})
const list = z.object({ ContactListName: z.string() })
const choice = z.enum(['OPT_IN', 'OPT_OUT'])
const listDetails = z.object({
  Topics: z
    .array(
      z.object({
        TopicName: z.string(),
        DisplayName: z.string().nullish(),
        Description: z.string().nullish(),
        DefaultSubscriptionStatus: choice,
      }),
    )
    .nullish(),
})
const contact = z.object({
  EmailAddress: z.string(),
  UnsubscribeAll: z.boolean().nullish(),
  TopicPreferences: z.array(z.object({ TopicName: z.string(), SubscriptionStatus: choice })).nullish(),
})
const contactDetails = z.object({ AttributesData: z.string().nullish() })
const destinations = z.object({
  EventDestinations: z
    .array(z.looseObject({ Name: z.string(), MatchingEventTypes: z.array(z.string()).nullish() }))
    .nullish(),
})

const EVENTS: Readonly<Record<string, string>> = {
  SEND: 'email.sent',
  DELIVERY: 'email.delivered',
  DELIVERY_DELAY: 'email.delivery_delayed',
  BOUNCE: 'email.bounced',
  COMPLAINT: 'email.complained',
  REJECT: 'email.failed',
  OPEN: 'email.opened',
  CLICK: 'email.clicked',
  SUBSCRIPTION: 'contact.updated',
}

interface SesOptions {
  /** Whether the attributes of contacts are read. */
  withAttributes: boolean
  /** Tells the user why nothing happens for a while. */
  say(text: string): void
}

/** What was seen and is not imported. */
interface Seen {
  addresses: string[]
  contactCount: number
  /** Addresses of contacts whose attributes are not an object in JSON. */
  strangeAttributes: string[]
}

export function sesSource(api: Api, options: SesOptions): ImportSource {
  const seen: Seen = { addresses: [], contactCount: 0, strangeAttributes: [] }
  return {
    domains: () => domainsOf(api, seen),
    async *suppressions() {
      const path = `${PATH}/suppression/addresses?PageSize=${PAGE}`
      const all = pagesOf(api, path, 'SuppressedDestinationSummaries', suppressed)
      for await (const { EmailAddress, Reason, LastUpdateTime } of all)
        yield {
          email: EmailAddress,
          reason: Reason === 'COMPLAINT' ? 'complaint' : 'bounce',
          at: LastUpdateTime ? LastUpdateTime * 1_000 : null,
        }
    },
    templates: () => templatesOf(api),
    contacts: () => contactsOf(api, options, seen),
    notes: async () => [...notesOf(seen, options), ...(await eventNotes(api))],
  }
}

type ReadPage = <S extends z.ZodType>(schema: S, token: string | null) => Promise<z.output<S>>

/** A page may be empty although another one follows; the last one has no token. */
async function* all<S extends z.ZodType>(read: ReadPage, key: string, item: S): AsyncGenerator<z.output<S>> {
  const schema = z.object({ [key]: z.array(item).nullish(), NextToken: z.string().nullish() })
  for (let token: string | null | undefined = null; token !== undefined; ) {
    const page: Record<string, unknown> = await read(schema, token)
    yield* (page[key] ?? []) as z.output<S>[]
    token = (page.NextToken || undefined) as string | undefined
  }
}

function pagesOf<S extends z.ZodType>(api: Api, path: string, key: string, item: S) {
  const next = path.includes('?') ? '&' : '?'
  const read: ReadPage = (schema, token) =>
    api.get(schema, token === null ? path : `${path}${next}NextToken=${encoded(token)}`)
  return all(read, key, item)
}

/** Only the whole of a domain is a domain here; single addresses are named. */
async function* domainsOf(api: Api, seen: Seen): AsyncGenerator<SourceDomain> {
  const policies = new Map<string, boolean>()
  const enforcesTls = async (set: string | null | undefined) => {
    if (!set) return undefined
    const known = policies.get(set)
    if (known !== undefined) return known
    const { DeliveryOptions } = await api.get(configurationSet, `${PATH}/configuration-sets/${encoded(set)}`)
    const isEnforced = DeliveryOptions?.TlsPolicy === 'REQUIRE'
    policies.set(set, isEnforced)
    return isEnforced
  }
  const identities = pagesOf(api, `${PATH}/identities?PageSize=${PAGE}`, 'EmailIdentities', identity)
  for await (const { IdentityName: name, IdentityType: type } of identities) {
    if (type === 'EMAIL_ADDRESS') {
      seen.addresses.push(name)
      continue
    }
    const details = await api.get(identityDetails, `${PATH}/identities/${encoded(name)}`)
    const { ConfigurationSetName, DkimAttributes, MailFromAttributes } = details
    const mailFrom = MailFromAttributes?.MailFromDomain
    yield {
      name,
      enforcesTls: await enforcesTls(ConfigurationSetName),
      formerRecords: [
        ...(DkimAttributes?.Tokens ?? []).map(token => ({
          type: DkimAttributes?.SigningAttributesOrigin === 'EXTERNAL' ? 'TXT' : 'CNAME',
          host: `${token}._domainkey.${name}`,
        })),
        ...(mailFrom ? ['MX', 'TXT'].map(type => ({ type, host: mailFrom })) : []),
      ],
    }
  }
}

async function* templatesOf(api: Api) {
  const path = `${PATH}/templates`
  for await (const { TemplateName: name } of pagesOf(
    api,
    `${path}?PageSize=${TEMPLATES_PAGE}`,
    'TemplatesMetadata',
    template,
  )) {
    const { TemplateContent } = await api.get(templateDetails, `${path}/${encoded(name)}`)
    const { Subject, Html, Text } = TemplateContent
    yield {
      id: name,
      name,
      alias: name,
      from: null,
      replyTo: [],
      variables: [],
      isPublished: true,
      ...translated({ subject: Subject || null, html: Html || null, text: Text || null }, translateTag),
    }
  }
}

const VARIABLE = /^(?:this\.)?([\p{L}_][\p{L}\p{N}_-]*(?:\.[\p{L}_][\p{L}\p{N}_-]*)*)$/u
const WORDS = new Set(['else', 'this'])

/** SES inserts values into HTML as they are, so the variables there are written with three braces. */
const translateTag: TranslateTag = (inner, _raw, part) => {
  if (inner === 'amazonSESUnsubscribeUrl') return placeholder('UNSUBSCRIBE_URL', false)
  if (inner.startsWith('!')) return '' // a comment
  const [, name] = VARIABLE.exec(inner) ?? []
  if (name !== undefined && !WORDS.has(name)) return placeholder(name, part === 'html')
  return /^(?!else\b)[\p{L}\d[]/u.test(inner) ? null : undefined
}

async function* contactsOf(api: Api, { withAttributes, say }: SesOptions, seen: Seen) {
  for await (const { ContactListName: name } of pagesOf(api, `${PATH}/contact-lists`, 'ContactLists', list)) {
    const path = `${PATH}/contact-lists/${encoded(name)}`
    const names = topicNames((await api.get(listDetails, path)).Topics ?? [])
    yield { list: name, topics: [...names.values()], contacts: [] }
    const read: ReadPage = (schema, token) =>
      api.query(schema, `${path}/contacts/list`, { PageSize: PAGE, ...(token && { NextToken: token }) })
    if (withAttributes) say(`Reading the attributes of contacts of ${name}, about one a second …`)
    for await (const found of all(read, 'Contacts', contact)) {
      seen.contactCount++
      const attributes = withAttributes ? await attributesOf(api, path, found.EmailAddress, seen) : {}
      yield { list: name, contacts: [contactOf(found, attributes, names)] }
    }
  }
}

type Topics = NonNullable<z.output<typeof listDetails>['Topics']>

/** Topics have their displayed name here; where two have the same, each gets its other name, too. */
function topicNames(topics: Topics): ReadonlyMap<string, SourceTopic> {
  const shown = ({ DisplayName, TopicName }: Topics[number]) => DisplayName || TopicName
  return new Map(
    topics.map(topic => {
      const isShared = topics.some(other => other !== topic && shown(other) === shown(topic))
      return [
        topic.TopicName,
        {
          name: isShared ? `${shown(topic)} (${topic.TopicName})` : shown(topic),
          description: topic.Description || null,
          default: choiceOf(topic.DefaultSubscriptionStatus),
        },
      ]
    }),
  )
}

function choiceOf(status: z.output<typeof choice>): TopicChoice {
  return status === 'OPT_IN' ? 'opt_in' : 'opt_out'
}

/** A contact that was deleted meanwhile has no attributes. */
async function attributesOf(
  api: Api,
  path: string,
  email: string,
  seen: Seen,
): Promise<Record<string, unknown>> {
  let text: string | null | undefined
  try {
    text = (await api.get(contactDetails, `${path}/contacts/${encoded(email)}`)).AttributesData
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 404) throw error
  }
  if (!text) return {}
  const attributes = z.record(z.string(), z.unknown()).safeParse(parsed(text))
  if (!attributes.success) seen.strangeAttributes.push(email)
  return attributes.data ?? {}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the report names the contact
  }
}

/** Attributes with the names of fields become these fields. */
function contactOf(
  { EmailAddress, UnsubscribeAll, TopicPreferences }: z.output<typeof contact>,
  attributes: Record<string, unknown>,
  names: ReadonlyMap<string, SourceTopic>,
): SourceContact {
  const fields = new Map<string, string>()
  const properties: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(attributes)) {
    const field = name.toLowerCase().replace(/[_\s-]/g, '')
    if ((field === 'firstname' || field === 'lastname') && typeof value === 'string') fields.set(field, value)
    else properties[name] = value
  }
  return {
    email: EmailAddress,
    firstName: fields.get('firstname') || null,
    lastName: fields.get('lastname') || null,
    unsubscribed: UnsubscribeAll === true,
    properties,
    topics: new Map(
      (TopicPreferences ?? []).flatMap(({ TopicName, SubscriptionStatus }) => {
        const topic = names.get(TopicName)
        return topic ? [[topic.name, choiceOf(SubscriptionStatus)] as const] : []
      }),
    ),
  }
}

function notesOf({ addresses, contactCount, strangeAttributes }: Seen, { withAttributes }: SesOptions) {
  const notes: string[] = []
  if (addresses.length > 0)
    notes.push(`Single addresses that may send (${firstNames(addresses)}): register their domains instead.`)
  if (contactCount > 0 && !withAttributes)
    notes.push(
      'Attributes of contacts: SES tells them in a request for each contact, about one a second; add --attributes to import them.',
    )
  if (strangeAttributes.length > 0)
    notes.push(`Attributes that are no object in JSON, of ${firstNames(strangeAttributes)}.`)
  return notes
}

/** Event destinations name services of Amazon and no URL, so webhooks cannot be made of them. */
async function eventNotes(api: Api): Promise<string[]> {
  const notes: string[] = []
  const path = `${PATH}/configuration-sets`
  for await (const set of pagesOf(api, path, 'ConfigurationSets', z.string())) {
    const found = await api.get(destinations, `${path}/${encoded(set)}/event-destinations`)
    for (const { Name, MatchingEventTypes, ...more } of found.EventDestinations ?? []) {
      const kinds = Object.keys(more).filter(key => key.endsWith('Destination') && more[key])
      const types = MatchingEventTypes ?? []
      const events = types.flatMap(type => EVENTS[type] ?? [])
      const unknown = types.filter(type => EVENTS[type] === undefined)
      notes.push(
        `Event destination ${Name} of the configuration set ${set} (${kinds.map(kind => kind.replace('Destination', '')).join(', ')}): ` +
          `make a webhook for ${events.join(', ') || 'no event'} at a URL of yours` +
          `${unknown.length > 0 ? `; without counterpart: ${unknown.join(', ')}` : ''}.`,
      )
    }
  }
  return notes
}
