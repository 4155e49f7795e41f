import * as assert from 'uvu/assert'
import { DEFAULT_BODY_LIMIT_BYTES } from '../../../src/interfaces/api/body/body.ts'
import type { Route } from '../../../src/interfaces/api/route/route.ts'
import { openSession } from '../../kit/accounts.ts'
import { assertAsDescribed } from '../../kit/contract.ts'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { filled, type Owned, ownEverything, paramsOf } from '../../kit/owned.ts'
import { assertRefusal, contentsOf, type ExpectedRefusal } from '../../kit/refusals.ts'
import { replyText } from '../../kit/reply-text.ts'
import { allRoutes, pathOf } from '../../kit/routes.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('what every route answers to nonsense')
const routes = await allRoutes()
/** Routes that read a body. */
const readers = routes.filter(({ body }) => body !== undefined)
const others = routes.filter(({ body }) => body === undefined)
let mailhorn: Mailhorn
let owned: Owned
test.before(async () => {
  mailhorn = await startMailhorn()
  const session = openSession(mailhorn, 'bearer')
  owned = await ownEverything(mailhorn, { session, key: mailhorn.apiKey, domain: 'here.example' })
})
test.after(() => mailhorn.close())

const MALFORMED = { status: 400, name: 'validation_error' }
const NOT_JSON = { status: 415, name: 'validation_error' }
const TOO_LARGE = { status: 413, name: 'validation_error' }
const PIECE = Buffer.alloc(64 * 1024, ' ')

interface Nonsense {
  body?: string | ReadableStream
  type?: string
}

/** Sends the request with a new session, because some routes end it. */
async function ask({ method, path }: Route, target: string, { body, type }: Nonsense): Promise<ApiAnswer> {
  const response = await fetch(mailhorn.baseUrl + target, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${openSession(mailhorn, 'bearer')}`,
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body, duplex: 'half' }),
  } as RequestInit)
  const text = await replyText(response)
  assert.is.not(text, '', `${method} ${path} answered nothing`)
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const answer = {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  }
  await assertAsDescribed(method, target, answer)
  return answer
}

const endless = (route: Route) => {
  const pieces = Math.ceil((route.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES) / PIECE.length) + 1
  return ReadableStream.from(Array(pieces).fill(PIECE))
}

/** Bodies that no route may take, each made anew. */
const BODIES: [what: string, make: (route: Route) => Nonsense, expected: ExpectedRefusal][] = [
  ['half an object', () => ({ body: '{"name":', type: 'application/json' }), MALFORMED],
  ['a text', () => ({ body: '"text"', type: 'application/json' }), MALFORMED],
  ['a form', () => ({ body: 'name=x', type: 'application/x-www-form-urlencoded' }), NOT_JSON],
  ['HTML', () => ({ body: '<p>{}</p>', type: 'text/html' }), NOT_JSON],
  ['10,000 levels', () => ({ body: '['.repeat(10_000), type: 'application/json' }), MALFORMED],
  ['more than it may', route => ({ body: endless(route), type: 'application/json' }), TOO_LARGE],
]

for (const route of readers)
  for (const [what, make, expected] of BODIES)
    test(`${route.method} ${route.path} refuses ${what}`, async () => {
      const before = contentsOf(mailhorn, ['sessions'])
      const answer = await ask(route, filled(route, paramsOf(owned, route)), make(route))
      assertRefusal(answer, expected)
      assert.equal(contentsOf(mailhorn, ['sessions']), before)
    })

for (const route of others.filter(({ method }) => method !== 'GET'))
  for (const [what, make] of BODIES)
    test(`${route.method} ${route.path} answers in its shape to ${what}`, async () => {
      const { status } = await ask(route, pathOf(route), make(route))
      assert.ok(status < 500, `${status}`)
    })

for (const route of readers)
  test(`${route.method} ${route.path} takes __proto__ for a key like any other`, async () => {
    const body = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
    const { status } = await ask(route, filled(route, paramsOf(owned, route)), {
      body,
      type: 'application/json',
    })
    assert.ok(status < 500, `${status}`)
    assert.is(({} as Record<string, unknown>).polluted, undefined)
  })

const CLUTTER = '?nonsense=1&nonsense=2&a[]=b&__proto__[polluted]=1&%00=%ff&&=;'

for (const route of routes)
  test(`${route.method} ${route.path} passes over parameters it does not know`, async () => {
    const target = route.method === 'GET' ? filled(route, paramsOf(owned, route)) : pathOf(route)
    const plain = await ask(route, target, {})
    assert.is((await ask(route, target + CLUTTER, {})).status, plain.status)
  })

/** Parameters that can only be given with another one. */
const WITH: Readonly<Record<string, string>> = { link: '&type=clicked' }

for (const route of routes.filter(({ query }) => query))
  test(`${route.method} ${route.path} reads each parameter as it is described`, async () => {
    const target = filled(route, paramsOf(owned, route))
    for (const [name, schema] of Object.entries(route.query!))
      for (const value of ['0', '1', '101', '-1', '1.5', '\0', 'nonsense', 'delivered', 'manual']) {
        const answer = await ask(
          route,
          `${target}?${name}=${encodeURIComponent(value)}${WITH[name] ?? ''}`,
          {},
        )
        const number = /^-?[\d.]+$/.test(value) ? Number(value) : value
        const isGood = schema.safeParse(value).success || schema.safeParse(number).success
        const isFreeText = schema.safeParse('nonsense').success
        // without a body, a route that reads one refuses that next
        const next = route.method === 'GET' ? [200, 404] : [200, 404, 415]
        const taken = isFreeText ? [...next, 422] : next
        if (isGood) assert.ok(taken.includes(answer.status), `${name}=${value}: ${answer.status}`)
        else assertRefusal(answer, { status: 422, name: 'validation_error', path: name })
      }
  })

for (const path of new Set(routes.map(({ path }) => path)))
  test(`${path} refuses methods it does not have`, async () => {
    const taken = routes.filter(route => route.path === path)
    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS'] as const) {
      if (taken.some(route => route.method === method)) continue
      const shadowed = routes.some(
        route =>
          route.method === method &&
          pathOf(route).split('/').length === path.split('/').length &&
          matches(route, path),
      )
      if (shadowed) continue
      const answer = await ask({ ...taken[0]!, method: method as Route['method'] }, pathOf(taken[0]!), {
        ...{ body: '{', type: 'text/html' },
      })
      assertRefusal(answer, { status: 405, name: 'method_not_allowed' })
    }
  })

/** `/emails/:id` also answers at `/emails/export`. */
function matches({ path }: Route, target: string): boolean {
  const parts = target.split('/')
  return path.split('/').every((part, i) => part.startsWith(':') || part === parts[i])
}

test.run()
