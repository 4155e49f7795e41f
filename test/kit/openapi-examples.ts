/**
 * Makes each operation of the API once against a running service, and returns its request and reply as the
 * example of the OpenAPI document. What differs between runs, such as ids and tokens, is replaced.
 */
import * as z from 'zod'
import { operationIdOf } from '../../src/interfaces/api/openapi/operation-ids.ts'
import type { Route } from '../../src/interfaces/api/route/route.ts'
import { parseWireId } from '../../src/lib/ids.ts'
import { openSession } from './accounts.ts'
import { startCloudflare } from './cloudflare.ts'
import { freePort } from './free-port.ts'
import { draftBroadcast, GOOD_TOKEN, goodBodyFor } from './good-bodies.ts'
import { type ApiAnswer, type CallOptions, type Mailhorn, startMailhorn } from './mailhorn.ts'
import { filled, type Owned, ownEverything, paramsOf } from './owned.ts'
import { allRoutes } from './routes.ts'

export interface RecordedExample {
  request?: unknown
  reply?: unknown
}

type Call = Pick<CallOptions, 'body' | 'raw' | 'headers'> & {
  params?: Record<string, string>
  query?: string
}

const MAIL = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const FORM =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\r\nb@c.example\r\n--b--\r\n'
/** The document would contain itself. */
const SELF = '/openapi.json'
const TEXTS = ['text/csv', 'message/rfc822']

/** Pages, streams and files have no example. */
export function hasExample({ path, replies }: Pick<Route, 'path' | 'replies'>): boolean {
  const [reply] = Object.values(replies)
  return path !== SELF && (typeof reply === 'string' ? TEXTS.includes(reply) : reply !== undefined)
}

/** Bodies that say more than those of the tests. */
const SHOWN = new Map<string, object>([
  [
    'POST /emails',
    {
      from: 'Ann <ann@here.example>',
      to: ['delivered@simulator.test'],
      subject: 'Your order has shipped',
      html: '<p>Your order <strong>1234</strong> has shipped.</p>',
      tags: [{ name: 'category', value: 'orders' }],
    },
  ],
  [
    'POST /audiences/:id/contacts',
    { email: 'ann@example.com', first_name: 'Ann', properties: { plan: 'pro', orders: 3 } },
  ],
  [
    'POST /inbound/routes',
    { match: 'support+*@here.example', action: 'forward', forward_to: 'team@example.com' },
  ],
  ['POST /domains', { name: 'example.com', region: 'us-west-2' }],
  ['POST /audiences', { name: 'Newsletter' }],
  [
    'POST /topics',
    { name: 'Weekly digest', description: 'One email every Monday', default_subscription: 'opt_in' },
  ],
  [
    'POST /templates',
    {
      name: 'Welcome',
      subject: 'Welcome, {{first_name|friend}}',
      html: '<p>Hello {{first_name|friend}}</p>',
    },
  ],
  ['POST /api-keys', { name: 'Web shop' }],
])

/** @returns examples by operation id, in the order of the ids */
export async function recordExamples(): Promise<Record<string, RecordedExample>> {
  const cloudflare = await startCloudflare({ [GOOD_TOKEN]: ['here.example', 'again.example'] })
  const mailhorn = await startMailhorn({
    env: {
      MAILHORN_AUTOCONFIGURE_CLOUDFLARE_BASE_URL: cloudflare.baseUrl,
      MAILHORN_TRACKING_BASE_URL: 'https://links.here.example',
      MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: `127.0.0.1:${await freePort()}`,
    },
  })
  try {
    const all = await allRoutes()
    const routes = all.filter(hasExample).sort(isLater)
    const replace = createReplacer(mailhorn)
    const examples = new Map<string, RecordedExample>()
    const scene = await createScene(mailhorn)
    for (const route of routes) {
      const { call, answer } = await scene.make(route)
      const example = {
        ...(call.body !== undefined && { request: call.body }),
        reply: shortened(answer.body),
      }
      examples.set(operationIdOf(route, all), replace(example) as RecordedExample)
    }
    return Object.fromEntries([...examples].sort(([a], [b]) => (a < b ? -1 : 1)))
  } finally {
    await mailhorn.close()
    await cloudflare.close()
  }
}

/** Reads first, then writes, then deletions and what ends a session, each in the order of their paths. */
function isLater(a: Route, b: Route): number {
  const rank = ({ method, path }: Route) =>
    path.endsWith('/reset-password')
      ? 4
      : method === 'GET'
        ? 0
        : method === 'DELETE'
          ? 2
          : path.startsWith('/auth')
            ? 3
            : 1
  return (
    rank(a) - rank(b) || b.path.split('/').length - a.path.split('/').length || (a.path < b.path ? -1 : 1)
  )
}

async function createScene(mailhorn: Mailhorn) {
  const session = () => openSession(mailhorn, 'bearer')
  const own = (domain: string) =>
    ownEverything(mailhorn, { session: session(), key: mailhorn.apiKey, domain })
  let owned = await own('here.example')
  await mailhorn.call('POST', '/queue/hold', { session: session(), body: { domain: 'held.example' } })
  await mailhorn.call('POST', '/installation/ban-domain', {
    session: session(),
    body: { domain: 'banned.example', reason: 'phishing' },
  })
  let sets = 0
  const attempt = async (route: Route) => {
    const call = await callFor(mailhorn, route, owned)
    const { params, query = '', ...options } = call
    const path = filled(route, { ...paramsOf(owned, route), ...params }) + query
    const answer = await mailhorn.call(route.method, path, { session: session(), ...options })
    return { call, answer }
  }
  return {
    /** Deletions may have taken what the operation needs; then everything is made anew. */
    async make(route: Route): Promise<{ call: Call; answer: ApiAnswer }> {
      const first = await attempt(route)
      if (first.answer.status < 400) return first
      owned = await own(`again${++sets}.example`)
      const second = await attempt(route)
      if (second.answer.status < 400) return second
      throw new Error(`${route.method} ${route.path}: ${JSON.stringify(second.answer.body)}`)
    },
  }
}

/** Prepares what an operation needs besides the fixtures. */
async function callFor(mailhorn: Mailhorn, route: Route, owned: Owned): Promise<Call> {
  const name = `${route.method} ${route.path}`
  // the operation that verifies a domain finds no records
  mailhorn.change(
    `update domains set status = 'verified' where not exists
      (select 1 from domains as other where other.name = domains.name and other.account_id <> domains.account_id)`,
  )
  const session = openSession(mailhorn, 'bearer')
  const inAnHour = new Date(mailhorn.clock.now() + 3_600_000).toISOString()
  if (/^(?:PATCH \/emails\/:id|POST \/emails\/:id\/cancel)$/.test(name)) {
    const id = await mailhorn.send({ ...MAIL, scheduled_at: inAnHour })
    return { params: { id }, ...(route.body && { body: goodBodyFor(mailhorn, route) }) }
  }
  if (/^POST \/broadcasts\/:id\/(?:send|unschedule|pause|resume|cancel)$/.test(name)) {
    const { body } = await mailhorn.call('POST', '/broadcasts', { session, body: draftBroadcast(mailhorn) })
    const setStatus = (status: string) =>
      mailhorn.change('update broadcasts set status = ? where id = ?', status, parseWireId('brd', body.id))
    if (name.endsWith('/pause')) setStatus('sending')
    if (name.endsWith('/resume')) setStatus('paused')
    if (/\/(?:cancel|unschedule)$/.test(name)) setStatus('scheduled')
    return { params: { id: body.id }, ...(name.endsWith('/send') && { body: { scheduled_at: inAnHour } }) }
  }
  if (name === 'POST /domains/:id/rotate-keys')
    return { params: { id: (await mailhorn.verifiedDomain('rotated.example')).id } }
  if (name === 'DELETE /accounts/:id') {
    const body = { name: 'Former shop', owner_email: 'owner@former.example' }
    return { params: { id: (await mailhorn.call('POST', '/accounts', { session, body })).body.id } }
  }
  if (name === 'DELETE /auth/sessions/:id') {
    openSession(mailhorn, 'bearer')
    const { body } = await mailhorn.call('GET', '/auth/sessions', { session })
    return { params: { id: body.data[0].id } }
  }
  if (route.bodyType === 'text/csv')
    return { raw: 'email,first_name\nann@there.example,Ann\n', headers: { 'content-type': 'text/csv' } }
  if (route.bodyType === 'multipart/form-data')
    return { raw: FORM, headers: { 'content-type': 'multipart/form-data; boundary=b' } }
  if (name === 'DELETE /contacts/:contact_id/segments/:segment_id')
    await inTwoAudiences(mailhorn, session, owned)
  if (!route.body) return {}
  const body = SHOWN.get(name) ?? goodBodyFor(mailhorn, route)
  return { body: route.body instanceof z.ZodArray ? [body] : body }
}

async function inTwoAudiences(mailhorn: Mailhorn, session: string, owned: Owned) {
  const { contact_id: contact } = owned.get('contacts')!
  const { body } = await mailhorn.call('POST', '/audiences', { session, body: { name: 'second' } })
  await mailhorn.call('POST', `/contacts/${contact}/segments/${body.id}`, { session })
}

const ROWS_MAX = 2
const TEXT_LENGTH_MAX = 1_000

/** Keeps the first rows of lists, and the beginning of long texts. */
function shortened(body: unknown): unknown {
  if (typeof body === 'string')
    return body.length > TEXT_LENGTH_MAX ? `${body.slice(0, TEXT_LENGTH_MAX)}…` : body
  if (Array.isArray(body)) return body.map(shortened)
  if (typeof body !== 'object' || body === null) return body
  const isList = 'object' in body && body.object === 'list'
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      key,
      shortened(isList && key === 'data' ? (value as unknown[]).slice(0, ROWS_MAX) : value),
    ]),
  )
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
/** Keys, secrets and signed tokens. */
const SECRET = /\b(re_|phs_|mh_|whsec_|svc-verify=)[\w+/=.-]{5,}/g
const DNS_TOKEN = /\b[a-z2-7]{32}\b/g
const PASSWORD = /"password":"[^"]+"/g
/** Version of a draft of a broadcast. */
const BROADCAST_VERSION = /("version":")[\w-]{22}(?=")/g
const SIGNED = /(\/[scuo]\/|token=)[\w.-]{16,}/g
/** Patterns of values that depend on the hour and the machine, with the example that replaces each. */
const MEASURED: readonly (readonly [RegExp, string])[] = [
  [/(?<="(?:duration|took)_ms":)\d+/g, '12'],
  [/(?<="port":|127\.0\.0\.1, port )\d+/g, '465'],
  [/(?<="resets_at":")[^"]+/g, '2026-08-06T00:00:00.000Z'],
  [/(?<="(?:start|end)_date":")[^"]+/g, '2026-08-05T12:00:00.000Z'],
  [/[A-Z][a-z]{2}, \d\d \w{3} 20\d\d \d\d:\d\d:\d\d \+0000/g, 'Wed, 05 Aug 2026 11:52:01 +0000'],
  [/(?<=_(?:mixed|alternative)_)[\da-f]{32}/g, 'b'.repeat(32)],
  [/(?<=X-Mailhorn-Ref: )[a-z2-7]+/g, 'a'.repeat(45)],
  [/\b\d{10}(?= 3600 600 1209600 300)/g, '1795690621'],
  [/\/[\w/.-]+\/mailhorn-\w{6}\b/g, '/var/lib/mailhorn'],
  [/[\d.]+ [MG]B of [\d.]+ [MG]B free \(\d+ %\)/g, '20 GB of 40 GB free (50 %)'],
  [/(?<="run":")\w+(?=","interface_addresses")/g, 'package'],
  [/(?<="interface_addresses":)\[[^\]]*\]/g, '["203.0.113.7"]'],
  [/(?<=fsync latency is )[\d.]+/g, '1.2'],
  [/20\d\d-\d\d-\d\d \d\d:\d\d(?= UTC)/g, '2026-08-05 12:52'],
  [/(?<="free_bytes":)\d+/g, '21474836480'],
  [/(?<="free_bytes":\d+,"size_bytes":)\d+/g, '42949672960'],
  [/(?<="engine":"sqlite","bytes":)\d+/g, '52428800'],
  [
    /(?<="self_signed_certificate":")[^"]+/g,
    '-----BEGIN CERTIFICATE-----\\nMIIB…\\n-----END CERTIFICATE-----\\n',
  ],
  [/(?<="wal_bytes":)\d+/g, '4194304'],
]
const EXAMPLE_TIME = Date.parse('2026-08-05T11:52:01.000Z')
const QUARTER_MS = 900_000

function createReplacer(mailhorn: Mailhorn): (value: unknown) => unknown {
  const ids = new Map<string, string>()
  const idOf = (id: string) => {
    const known = ids.get(id) ?? `01990000-0000-7000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(id, known)
    return known
  }
  const startedAt = mailhorn.clock.now()
  const timeOf = (text: string) => {
    const quarters = Math.round((Date.parse(text) - startedAt) / QUARTER_MS)
    return new Date(EXAMPLE_TIME + quarters * QUARTER_MS).toISOString()
  }
  const measured = (text: string) =>
    MEASURED.reduce((rest, [pattern, example]) => rest.replace(pattern, example), text)
  // measured times are replaced last, because times are otherwise shifted with the start of the recording
  const replaced = (text: string) =>
    measured(
      text
        .replaceAll(mailhorn.baseUrl, 'https://mailhorn.example.com')
        .replaceAll(mailhorn.admin.password, 'correct horse battery staple')
        .replace(PASSWORD, '"password":"correct horse battery staple"')
        .replace(DNS_TOKEN, 'k'.repeat(32))
        .replace(SECRET, (_, prefix: string) => prefix + 'x'.repeat(32))
        .replace(SIGNED, (_, prefix: string) => prefix + 'x'.repeat(26))
        .replace(BROADCAST_VERSION, (_, prefix: string) => prefix + 'x'.repeat(22))
        .replace(UUID, idOf)
        .replace(TIME, timeOf)
        .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:25'),
    )
  return value => JSON.parse(replaced(JSON.stringify(value)))
}
