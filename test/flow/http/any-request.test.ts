import * as assert from 'uvu/assert'
import * as z from 'zod'
import type { Route } from '../../../src/interfaces/api/route/route.ts'
import { openSession } from '../../kit/accounts.ts'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { filled, fixturesOf, type Owned, ownEverything } from '../../kit/owned.ts'
import { type Arbitrary, fc } from '../../kit/property.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { allRoutes } from '../../kit/routes.ts'
import { goodValue, oddInOnePlace, oddValue, spoilt } from '../../kit/schema-arbitrary.ts'
import { suite } from '../../kit/suite.ts'

/** `FUZZ_SECONDS` for more than those that are always asked, `FUZZ_SEED` for other requests. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 0)
const ROUNDS = 60
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_122)
const test = suite('any request', { limitMs: (SECONDS + 120) * 1_000 })
/** After these, other requests are refused: the switch of the mode, and the ban of the sender's domain. */
const REFUSING = ['PUT /installation/mode', 'POST /installation/ban-domain']
const routes = (await allRoutes()).filter(({ method, path }) => !REFUSING.includes(`${method} ${path}`))
let mailhorn: Mailhorn
let owned: Owned
let boundKey = ''
const words = new Map<string, string[]>()

test.before(async () => {
  const generous = Object.fromEntries(
    ['FREE', 'PRO', 'SCALE'].map(plan => [`MAILHORN_PLANS_${plan}_DAILY`, '1000000']),
  )
  // broadcasts to real recipients need links that they can open
  const links = { MAILHORN_TRACKING_BASE_URL: 'https://links.here.example' }
  mailhorn = await startMailhorn({ env: { ...generous, ...links } })
  const { id: domain } = await mailhorn.verifiedDomain('here.example')
  const session = openSession(mailhorn, 'bearer')
  owned = await ownEverything(mailhorn, { session, key: mailhorn.apiKey, domain: 'there.example' })
  const bound = { name: 'bound', domain_id: domain }
  boundKey = (await mailhorn.call('POST', '/api-keys', { session, body: bound })).body.token
  for (const [name, values] of Object.entries(vocabulary())) words.set(name, values)
})
test.after(() => mailhorn.close())

/** Returns valid values for common fields, so that many requests are accepted. */
function vocabulary(): Record<string, string[]> {
  const addresses = ['delivered', 'bounced', 'Ann <delivered+1', 'failed'].map(
    local => `${local}@simulator.test${local.includes('<') ? '>' : ''}`,
  )
  const times = [1, 24, 9_000].map(hours => new Date(mailhorn.clock.now() + hours * 3_600_000).toISOString())
  const ids = [...owned.values()].flatMap(Object.values) as string[]
  const variants = ids.flatMap(id => [id, id.replace(/^\w+_/, ''), id.replace(/^\w+_/, 'dom_')])
  return {
    ...{
      to: addresses,
      cc: addresses,
      bcc: addresses,
      email: addresses,
      emails: addresses,
      q: ['private', '%'],
    },
    ...{ from: ['ann@here.example', 'Ann <ann@here.example>', 'bob@there.example'], reply_to: addresses },
    ...{ domain: ['here.example'], tag: ['kind'], created_after: times, created_before: times },
    ...{ scheduled_at: times, template_id: ids, ids: variants, id: variants, domain_id: ids, plan: ['free'] },
    ...{ content: ['aGVsbG8=', 'data:text/plain;base64,aGk='], content_type: ['text/plain', 'image/png'] },
    ...{ after: variants, before: variants, name: ['new.example', 'a name'], region: ['eu-west-1'] },
    ...{ path: ['https://127.0.0.1/a', 'file:///etc/passwd'], owner_email: ['owner@shop.example'] },
  }
}

/** Requests at a time. */
const CONCURRENT_COUNT = 16

interface Request {
  method: string
  target: string
  credential: string
  headers: Record<string, string>
  body: string | null
}

const CREDENTIALS = ['key', 'session', 'bound', 'none', 'nonsense']
const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']
const HEADERS: Record<string, Arbitrary<string>> = {
  'idempotency-key': fc.oneof(fc.constantFrom('again', '', 'k'.repeat(257)), headerText(30)),
  'x-batch-validation': fc.oneof(fc.constantFrom('permissive', 'strict', 'Permissive'), headerText(8)),
  'content-type': fc.constantFrom(
    'application/json',
    'application/json; charset=utf-16',
    'text/html',
    'a/b;c',
    '',
  ),
  'content-encoding': fc.constantFrom('gzip', 'identity', 'br'),
  'user-agent': fc.constantFrom('resend-sdk/0.11.0', 'resend-node:6.38.0', ''),
  accept: fc.constantFrom('text/html', '*/*', 'application/xml'),
  origin: fc.constantFrom('null', 'https://evil.example'),
  cookie: fc.oneof(fc.constantFrom('mailhorn_session=phs_x', '=;=', '__proto__=1'), headerText(60)),
  'x-forwarded-for': fc.constantFrom('127.0.0.1', '::1, nonsense'),
  'x-nonsense': headerText(200),
}

function headerText(maxLength: number): Arbitrary<string> {
  return fc
    .array(fc.integer({ min: 0x20, max: 0x7e }), { maxLength })
    .map(codes => String.fromCharCode(...codes))
}

function requestTo(route: Route): Arbitrary<Request> {
  return fc.record({
    method: mostly(fc.constant(route.method as string), fc.constantFrom(...METHODS)),
    target: fc.tuple(pathTo(route), queryOf(route)).map(parts => parts.join('')),
    credential: mostly(fc.constant(route.access as string), fc.constantFrom(...CREDENTIALS)),
    headers: mostly(
      fc.constant({}),
      fc.record(HEADERS, { requiredKeys: [] }) as Arbitrary<Record<string, string>>,
    ),
    body: bodyOf(route),
  })
}

/** Returns how often a route is chosen: routes with more fields are tested more. */
function weightOf({ body, query, path }: Route): number {
  if (body && /^\/emails/.test(path)) return 16
  return body || query ? 2 : 1
}

function mostly<T>(usual: Arbitrary<T>, odd: Arbitrary<T>): Arbitrary<T> {
  return fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: odd })
}

function pathTo(route: Route): Arbitrary<string> {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const own = fixturesOf(owned, route)
  const values = names.map(name =>
    mostly(fc.constantFrom(...spellingsOf(own[name]!)), fc.string({ maxLength: 40 })),
  )
  const odd = fc.constantFrom(...['/', '//', '/nowhere', '/..', '/%', '/%00', '/%2e%2e', ';a=b', '%', '/%ff'])
  return fc.tuple(fc.tuple(...values), mostly(fc.constant(''), odd)).map(([chosen, tail]) => {
    const params = Object.fromEntries(names.map((name, i) => [name, encode(chosen[i]!)]))
    return filled(route, params) + tail
  })
}

const spellingsOf = (value: string) => [value, value, value.replace(/^\w+_/, ''), value.toUpperCase()]
const encode = (text: string) => encodeURIComponent(text.toWellFormed())

function queryOf({ query = {} }: Route): Arbitrary<string> {
  const odd = oddValue.map(value => (typeof value === 'string' ? value : JSON.stringify(value)))
  const known = Object.entries(query).map(([name, schema]) =>
    fc.tuple(fc.constant(name), mostly(goodValue(jsonSchema(schema), words, name).map(String), odd)),
  )
  const unknown = fc.tuple(fc.constantFrom('x', '__proto__', 'a[b]', 'limit', ''), odd)
  return fc
    .array(fc.oneof(...known, unknown), { maxLength: known.length > 0 ? 4 : 1 })
    .map(pairs => pairs.map(([name, value]) => `${encode(name)}=${encode(value.slice(0, 2_000))}`).join('&'))
    .map(text => (text === '' ? '' : `?${text}`))
}

const jsonSchema = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { io: 'input' }) as Parameters<typeof goodValue>[0]

function bodyOf({ body }: Route): Arbitrary<string | null> {
  const none = fc.constant(null)
  const text = fc.oneof(
    fc.string({ maxLength: 50 }),
    fc.constantFrom('{', '[', 'null', '{}', '[]', '"', '{"a":'),
  )
  if (!body) return mostly<string | null>(none, text)
  const schema = jsonSchema(body)
  const good = goodValue(schema, words)
  const value = fc.oneof(
    { weight: 4, arbitrary: good },
    { weight: 4, arbitrary: spoilt(good) },
    { weight: 4, arbitrary: oddInOnePlace(schema, words) },
    oddValue,
  )
  return mostly<string | null>(value.map(json), fc.oneof(none, text))
}

const json = (value: unknown) => JSON.stringify(value) ?? 'null'

const ENDS_SESSIONS = /^\/+(auth|accounts)\b/
let session: string | undefined

function bearerOf(credential: string): { key?: string } {
  if (credential === 'key') return { key: mailhorn.apiKey }
  if (credential === 'session' || credential === 'public') {
    session ??= openSession(mailhorn, 'bearer')
    return { key: session }
  }
  if (credential === 'bound') return { key: boundKey }
  return credential === 'none' ? {} : { key: 'nonsense' }
}

/**
 * Sends a request, with dot segments resolved as clients do. `/` is requested with any `Accept`, because
 * browsers are redirected from there to the dashboard.
 */
async function ask(request: Request): Promise<ApiAnswer> {
  const { method, credential, body } = request
  const { pathname, search } = new URL(mailhorn.baseUrl + request.target)
  const target = pathname + search
  const headers = pathname === '/' ? { ...request.headers, accept: '*/*' } : request.headers
  const raw = body === null || method === 'GET' || method === 'HEAD' ? {} : { raw: body }
  const queries = mailhorn.call(method, target, { ...bearerOf(credential), headers, ...raw })
  if (ENDS_SESSIONS.test(target)) session = undefined
  return queries
}

/** The status of the answer. @throws when it is not good, naming the request */
async function askWell(request: Request): Promise<number> {
  try {
    const answer = await ask(request)
    assertGoodAnswer(request, answer)
    return answer.status
  } catch (error) {
    throw new Error(`asked ${JSON.stringify(request)}: ${(error as Error).message}`, { cause: error })
  }
}

/** It asks a DNS provider, of which there is none here. */
const ASKS_OTHERS = /\/autoconfigure\/*$/

function assertGoodAnswer({ method, target }: Request, answer: ApiAnswer) {
  const isOurs = answer.status < 500 || (answer.status === 503 && ASKS_OTHERS.test(target.split('?')[0]!))
  assert.ok(isOurs, `${answer.status}`)
  if (method !== 'HEAD' && answer.status >= 400) {
    // a page for browsers, which `contract.ts` allows where the route has pages
    if (answer.headers.get('content-type')?.startsWith('text/html')) return
    assertRefusal(answer, { status: answer.status, name: answer.body.name })
  } else if (method !== 'HEAD') assert.ok(answer.body !== undefined)
}

test('is answered in the shape that is described, and never by a fault of ours', async () => {
  const statuses = new Map<number, number>()
  const requests = fc.oneof(
    ...routes.map(route => ({ weight: weightOf(route), arbitrary: requestTo(route) })),
  )
  const together = fc.array(requests, { minLength: CONCURRENT_COUNT, maxLength: CONCURRENT_COUNT })
  await fc.assert(
    fc.asyncProperty(together, several =>
      Promise.all(
        several.map(async request => {
          const status = await askWell(request)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }),
      ).then(() => undefined),
    ),
    {
      ...(SECONDS > 0
        ? { numRuns: 1_000_000, interruptAfterTimeLimit: SECONDS * 1_000 }
        : { numRuns: ROUNDS }),
      ...{ seed: SEED, includeErrorInReport: true },
    },
  )
  for (const status of [200, 400, 401, 404, 405, 422])
    assert.ok(statuses.has(status), `no request was answered with ${status}: ${[...statuses]}`)
})

test('leaves the service as healthy as it was', async () => {
  assert.equal((await mailhorn.call('GET', '/readyz')).body, { status: 'ready', mode: 'normal' })
  assert.is(({} as Record<string, unknown>).x, undefined)
  const mail = { from: 'a@here.example', to: 'delivered+healthy@simulator.test', subject: 's', text: 't' }
  await mailhorn.emailWhen(await mailhorn.send(mail), 'delivered')
})

test.run()
