/**
 * API of Amazon SES on loopback. It computes the signature of each request by the steps of the documentation,
 * apart from the code that it tests.
 */
import { createHash, createHmac } from 'node:crypto'
import { type FakeApi, type FakeReply, type FakeRequest, startFakeApi } from './fake-api.ts'

export const SES_KEYS = {
  AWS_ACCESS_KEY_ID: 'AKIDOFTHEOTHERONE',
  AWS_SECRET_ACCESS_KEY: 'the/secret+of/the/other+one',
  AWS_REGION: 'eu-west-1',
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
    credentials: isSigned,
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

const SIGNED = /^AWS4-HMAC-SHA256 Credential=(\S+?)\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/

function isSigned({ method, path, query, headers, body }: FakeRequest): boolean {
  const header = (name: string) => String(headers[name] ?? '')
  const [, id, scope = '', names = '', signature] = SIGNED.exec(header('authorization')) ?? []
  const date = header('x-amz-date')
  const needed = [
    ...(body === '' ? [] : ['content-type']),
    'host',
    'x-amz-date',
    ...(header('x-amz-security-token') === '' ? [] : ['x-amz-security-token']),
  ]
  if (id !== SES_KEYS.AWS_ACCESS_KEY_ID || names !== needed.join(';')) return false
  if (scope !== `${date.slice(0, 8)}/${SES_KEYS.AWS_REGION}/ses/aws4_request`) return false
  const parameters = [...query].map(([name, value]) => `${percent(name)}=${percent(value)}`).sort()
  let canonical = `${method}\n${percent(path, '/')}\n${parameters.join('&')}\n`
  for (const name of needed) canonical += `${name}:${header(name)}\n`
  canonical += `\n${names}\n${createHash('sha256').update(body).digest('hex')}`
  const digest = createHash('sha256').update(canonical).digest('hex')
  let key = Buffer.from(`AWS4${SES_KEYS.AWS_SECRET_ACCESS_KEY}`)
  for (const part of [...scope.split('/'), `AWS4-HMAC-SHA256\n${date}\n${scope}\n${digest}`])
    key = createHmac('sha256', key).update(part).digest()
  return key.toString('hex') === signature
}

/** Writes every byte but those of unreserved characters as a hexadecimal number. */
function percent(text: string, kept = ''): string {
  let result = ''
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte)
    const isPlain = /[A-Za-z0-9._~-]/.test(character) || kept.includes(character)
    result += isPlain ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return result
}
