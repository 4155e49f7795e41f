/** Creates one resource of every kind that a path parameter can name, for the tests over all routes. */

import type { Route } from '../../src/interfaces/api/route/route.ts'
import { parseWireId } from '../../src/lib/ids.ts'
import { createClickToken, createOpenToken, createViewToken } from '../../src/pipeline/tracking/tokens.ts'
import { createUnsubscribeToken } from '../../src/pipeline/tracking/unsubscribe-token.ts'
import { insertRows } from './database.ts'
import { addInbound } from './inbound.ts'
import { PNG } from './logo.ts'
import { type Mailhorn, secretsOf } from './mailhorn.ts'
import { newId } from './new-id.ts'

/** Values of path parameters by the first part of the path, and there by the name of the parameter. */
export type Owned = Map<string, Record<string, string>>

interface Owner {
  session: string
  key: string
  /** Registered, not verified. */
  domain: string
}

const RECEIVED = `From: Ann <delivered@simulator.test>
Subject: private
Content-Type: multipart/mixed; boundary=b

--b

private
--b
Content-Type: text/plain; name=private.txt

private
--b--
`

/** Creates the resources. A new collection or path parameter must be added here. */
export async function ownEverything(mailhorn: Mailhorn, { session, key, domain }: Owner): Promise<Owned> {
  const make = async (path: string, body: object) => {
    const answer = await mailhorn.call('POST', path, { session, body })
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const { body: account } = await mailhorn.call('GET', '/account', { session })
  const { id: email } = await make('/emails', {
    from: `ann@${domain}`,
    to: 'delivered@simulator.test',
    subject: 'private',
    text: 'private',
    html: '<p>private</p>',
    attachments: [{ filename: 'private.txt', content: 'cHJpdmF0ZQ==' }],
  })
  const share = await make(`/emails/${email}/share`, {})
  const { body: sessions } = await mailhorn.call('GET', '/auth/sessions', { session })
  const attachments = await delivered(mailhorn, key, email)
  const received = addInbound(mailhorn, account.id, { data: RECEIVED, recipient: `anyone@${domain}` })
  const template = await make('/templates', { name: 'first' })
  await mailhorn.call('PUT', `/templates/${template.id}`, { session, body: { name: 'second' } })
  const audience = await make('/audiences', { name: 'private' })
  const contact = await make(`/audiences/${audience.id}/contacts`, { email: `anyone@${domain}` })
  const filters = [{ field: 'email', op: 'exists' }]
  const segment = await make(`/audiences/${audience.id}/segments`, { name: 'private', filters })
  const { body: imported } = await mailhorn.call('POST', `/audiences/${audience.id}/contacts/import`, {
    ...{ session, raw: `email\nsomeone@${domain}\n`, headers: { 'content-type': 'text/csv' } },
  })
  const topic = await make('/topics', { name: 'private' })
  const property = await make('/contact-properties', { key: `private of ${domain}`, type: 'string' })
  const accountId = parseWireId('acc', account.id)!
  // the email does not exist, so following the links stores nothing
  const recipient = { accountId, emailId: new Uint8Array(16), ordinal: 0 }
  const subscription = { accountId, address: 'rcpt@there.test', topicId: null, broadcastId: null }
  const secrets = secretsOf(mailhorn)
  const words = { from: `ann@${domain}`, subject: 'private', text: 'private' }
  const broadcast = await make('/broadcasts', { audience_id: audience.id, ...words })
  const webhook = await make('/webhooks', { url: 'https://hooks.invalid/', events: ['domain.verified'] })
  const delivery = await completedDelivery(mailhorn, session, webhook.id)
  return new Map([
    ['.well-known', { token: addChallenge(mailhorn, domain) }],
    ['accounts', { id: account.id }],
    ['access-tokens', { id: (await make('/access-tokens', { name: 'first', scopes: ['domains:read'] })).id }],
    ['api-keys', { id: (await make('/api-keys', { name: 'second' })).id }],
    [
      'audiences',
      { id: audience.id, contact_id: contact.id, segment_id: segment.id, import_id: imported.id },
    ],
    ['segments', { id: audience.id }],
    ['contacts/imports', { id: imported.id }],
    ['contacts', { contact_id: contact.id, segment_id: audience.id }],
    ['topics', { id: topic.id }],
    ['contact-properties', { id: property.id }],
    ['auth', { id: sessions.data[0].id }],
    ['broadcasts', { id: broadcast.id }],
    ['domains', { id: addClaim(mailhorn, (await make('/domains', { name: domain })).id, account.id) }],
    ['emails', { id: email, attachment_id: attachments[0]!.id, share_id: share.share_id }],
    ['l', { logo: await addLogo(mailhorn, session, `logo.${domain}`) }],
    ['o', { token: createOpenToken(secrets, recipient) }],
    ['c', { token: createClickToken(secrets, recipient, { number: 0, target: 'https://shop.example/' }) }],
    ['u', { token: createUnsubscribeToken(secrets, subscription) }],
    ['v', { token: createViewToken(secrets, { ...recipient, emailId: parseWireId('eml', email)! }) }],
    ['logs', { id: await loggedRequest(mailhorn, session) }],
    [
      'inbound/routes',
      { id: (await make('/inbound/routes', { match: `private@${domain}`, action: 'drop' })).id },
    ],
    ['inbound', { id: received.id, n: received.attachmentIds[0]! }],
    ['emails/receiving', { id: received.id, attachment_id: received.attachmentIds[0]! }],
    ['s', { token: share.url.split('/').at(-1) }],
    ['suppressions', { id: (await make('/suppressions', { email: `nobody@${domain}` })).id }],
    ['webhooks', { id: webhook.id, delivery_id: delivery.id, event_id: delivery.event_id }],
    ['templates', { id: template.id, version: '1' }],
  ])
}

/** Returns the name of the logo of a new domain. */
async function addLogo(mailhorn: Mailhorn, session: string, name: string): Promise<string> {
  const { body: domain } = await mailhorn.call('POST', '/domains', { session, body: { name } })
  const { body } = await mailhorn.call('PATCH', `/domains/${domain.id}`, {
    ...{ session, body: { branding: { logo: PNG } } },
  })
  return body.branding.logo_url.split('/').at(-1)
}

/** Valid bodies, for routes that read their body before they look up the resource in the path. */
const BODIES = new Map<string, object>([
  ['PUT /templates/:id', { name: 'theirs' }],
  ['PATCH /access-tokens/:id', { name: 'theirs' }],
  ['PATCH /api-keys/:id', { name: 'theirs' }],
  ['POST /inbound/:id/forward', { from: 'ann@here.example', to: 'delivered@simulator.test' }],
  ['POST /inbound/:id/reply', { from: 'ann@here.example', text: 'hello' }],
  ['POST /broadcasts/:id/test', { to: 'delivered@simulator.test' }],
])

export function bodyFor({ method, path }: Route): { body?: object } {
  const body = BODIES.get(`${method} ${path}`)
  return body ? { body } : {}
}

/** Finds the fixtures of a route, also for a collection below another one. */
export function fixturesOf(owned: Owned, { path }: Route): Record<string, string> {
  const [, first = '', second = ''] = path.split('/')
  return owned.get(`${first}/${second}`) ?? owned.get(first) ?? {}
}

/** @throws when a parameter of the route has no fixture */
export function paramsOf(owned: Owned, route: Route): Record<string, string> {
  const { path } = route
  const fixtures = fixturesOf(owned, route)
  return Object.fromEntries(
    [...path.matchAll(/:(\w+)/g)].map(([, name]) => {
      const value = fixtures[name!]
      if (value === undefined) throw new Error(`${path}: there is no fixture for its \`${name}\``)
      return [name!, value]
    }),
  )
}

/** Returns the path with these values in place of its parameters. */
export function filled({ path }: Route, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => params[name]!)
}

async function delivered(mailhorn: Mailhorn, key: string, id: string): Promise<{ id: string }[]> {
  for (;;) {
    const { status, body } = await mailhorn.call('GET', `/emails/${id}`, { key })
    if (status !== 200) throw new Error(JSON.stringify(body))
    if (body.status === 'delivered') return body.attachments
  }
}

/** Waits for a webhook delivery that has ended, so that its row does not change during the tests. */
async function completedDelivery(
  mailhorn: Mailhorn,
  session: string,
  webhook: string,
): Promise<{ id: string; event_id: string }> {
  const { body: requests } = await mailhorn.call('POST', `/webhooks/${webhook}/test`, { session })
  for (;;) {
    const { body } = await mailhorn.call('GET', `/webhooks/${webhook}/deliveries`, { session })
    if (body.data[0].error !== null) return requests
  }
}

/** Stores a claim of the domain. @returns the id of the domain */
function addClaim(mailhorn: Mailhorn, domain: string, account: string): string {
  const now = mailhorn.clock.now()
  insertRows(mailhorn, 'domain_claims', [
    {
      ...{ id: newId(now), account_id: parseWireId('acc', account)!, domain_id: parseWireId('dom', domain)! },
      ...{ token: 'token', status: 'pending', created_at: now, expires_at: now + 365 * 86_400_000 },
    },
  ])
  return domain
}

/** Makes a request that is logged. */
async function loggedRequest(mailhorn: Mailhorn, session: string): Promise<string> {
  const { headers } = await mailhorn.call('GET', '/topics', { session })
  return `log_${headers.get('x-request-id')}`
}

/** Stores an ACME challenge that does not expire during a test. */
function addChallenge(mailhorn: Mailhorn, name: string): string {
  const token = `challenge-of-${name}`
  const expiresAt = mailhorn.clock.now() + 365 * 86_400_000
  insertRows(mailhorn, 'acme_challenges', [
    { token, type: 'http-01', name, answer: 'proof', expires_at: expiresAt },
  ])
  return token
}
