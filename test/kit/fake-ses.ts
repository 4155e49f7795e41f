/** API of Amazon SES on loopback, which checks the signature of each request. */
import { isSigned } from './aws-signed.ts'
import { type FakeApi, type FakeReply, type FakeRequest, startFakeApi } from './fake-api.ts'

export const SES_KEYS = {
  AWS_ACCESS_KEY_ID: 'AKIDOFTHEOTHERONE',
  AWS_SECRET_ACCESS_KEY: 'the/secret+of/the/other+one',
  AWS_REGION: 'eu-west-1',
}

const KEY = {
  id: SES_KEYS.AWS_ACCESS_KEY_ID,
  secret: SES_KEYS.AWS_SECRET_ACCESS_KEY,
  region: SES_KEYS.AWS_REGION,
  service: 'ses',
}

export interface SesAccount {
  identities?: { name: string; type: string; details?: object }[]
  suppressions?: { EmailAddress: string; Reason: string; LastUpdateTime: number }[]
  templates?: { name: string; content: object }[]
  lists?: { name: string; topics: object[]; contacts: SesContact[] }[]
  configurationSets?: { name: string; details: object; destinations: object[] }[]
}

export interface SesContact {
  EmailAddress: string
  UnsubscribeAll: boolean
  TopicPreferences?: { TopicName: string; SubscriptionStatus: string }[]
  AttributesData?: string
}

export function startFakeSes(account: SesAccount): Promise<FakeApi> {
  return startFakeApi({
    credentials: request => isSigned(request, KEY),
    denied: { status: 403, body: { message: 'The security token included in the request is invalid.' } },
    answer: request => answerOf(account, request),
  })
}

const PAGES: Readonly<Record<string, [key: string, items: (account: SesAccount) => readonly unknown[]]>> = {
  '/v2/email/identities': [
    'EmailIdentities',
    ({ identities = [] }) =>
      identities.map(({ name, type }) => ({
        IdentityName: name,
        IdentityType: type,
        SendingEnabled: true,
        VerificationStatus: 'SUCCESS',
      })),
  ],
  '/v2/email/suppression/addresses': [
    'SuppressedDestinationSummaries',
    ({ suppressions = [] }) => suppressions,
  ],
  '/v2/email/templates': [
    'TemplatesMetadata',
    ({ templates = [] }) =>
      templates.map(({ name }) => ({ TemplateName: name, CreatedTimestamp: 1_700_000_000 })),
  ],
  '/v2/email/contact-lists': [
    'ContactLists',
    ({ lists = [] }) =>
      lists.map(({ name }) => ({ ContactListName: name, LastUpdatedTimestamp: 1_700_000_000 })),
  ],
  '/v2/email/configuration-sets': [
    'ConfigurationSets',
    ({ configurationSets = [] }) => configurationSets.map(({ name }) => name),
  ],
}

function answerOf(account: SesAccount, { method, path, query, body }: FakeRequest): FakeReply | undefined {
  const [key, items] = PAGES[path] ?? []
  if (key && items && method === 'GET')
    return page(key, items(account), Number(query.get('PageSize') ?? 100), query.get('NextToken'))
  const [, , , kind, ...rest] = path.split('/')
  const [name = '', what, more] = rest.map(decodeURIComponent)
  const list = account.lists?.find(each => each.name === name)
  const set = account.configurationSets?.find(each => each.name === name)
  if (kind === 'contact-lists' && list && what === 'contacts' && method === 'POST') {
    const { PageSize, NextToken = null } = JSON.parse(body)
    const listed = list.contacts.map(({ AttributesData, ...contact }) => contact)
    return more === 'list' ? page('Contacts', listed, PageSize, NextToken) : undefined
  }
  if (method !== 'GET') return undefined
  if (kind === 'contact-lists' && list) {
    if (what === undefined) return { body: { ContactListName: name, Topics: list.topics } }
    const found = list.contacts.find(({ EmailAddress }) => EmailAddress === more)
    return found && { body: { ContactListName: name, ...found } }
  }
  if (kind === 'configuration-sets' && set)
    return { body: what === undefined ? set.details : { EventDestinations: set.destinations } }
  const found =
    kind === 'identities'
      ? account.identities?.find(each => each.name === name)?.details
      : account.templates?.find(each => each.name === name)
  if (!found) return undefined
  return 'content' in found
    ? { body: { TemplateName: name, TemplateContent: found.content } }
    : { body: found }
}

/** Tokens contain characters that have to be encoded. An empty page comes before the others. */
function page(key: string, items: readonly unknown[], size: number, token: string | null): FakeReply {
  if (token === null && items.length > 0) return { body: { [key]: [], NextToken: 'from+0/=' } }
  const from = Number(/\d+/.exec(token ?? '0'))
  const next = from + size
  return {
    body: {
      [key]: items.slice(from, next),
      ...(next < items.length && { NextToken: `from+${next}/=` }),
    },
  }
}
