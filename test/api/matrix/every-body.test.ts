import * as assert from 'uvu/assert'
import * as z from 'zod'
import type { Route } from '../../../src/interfaces/api/route/route.ts'
import { emptyListsOf } from '../../../src/interfaces/api/schema/read.ts'
import { openSession } from '../../kit/accounts.ts'
import { type FakeCloudflare, startCloudflare } from '../../kit/cloudflare.ts'
import { draftBroadcast, GOOD_TOKEN, goodBodyFor } from '../../kit/good-bodies.ts'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { filled, type Owned, ownEverything, paramsOf } from '../../kit/owned.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { allRoutes } from '../../kit/routes.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('every route that reads a body')
const routes = (await allRoutes()).filter(({ body }) => body !== undefined)
let mailhorn: Mailhorn
let owned: Owned
let cloudflare: FakeCloudflare
test.before(async () => {
  cloudflare = await startCloudflare({ [GOOD_TOKEN]: ['here.example'] })
  const env = {
    MAILHORN_AUTOCONFIGURE_CLOUDFLARE_BASE_URL: cloudflare.baseUrl,
    // broadcasts to real recipients need links that they can open
    MAILHORN_TRACKING_BASE_URL: 'https://links.here.example',
  }
  mailhorn = await startMailhorn({ env })
  const session = openSession(mailhorn, 'bearer')
  owned = await ownEverything(mailhorn, { session, key: mailhorn.apiKey, domain: 'here.example' })
})
test.after(async () => {
  await mailhorn.close()
  await cloudflare.close()
})

const MAIL = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
type Body = Record<string, unknown>
const inAnHour = () => new Date(mailhorn.clock.now() + 3_600_000).toISOString()
const goodBody = (route: Route) => goodBodyFor(mailhorn, route)

/** That may be sent. */
async function aDraft(): Promise<string> {
  mailhorn.change("update domains set status = 'verified' where name = 'here.example'")
  const session = openSession(mailhorn, 'bearer')
  const { body } = await mailhorn.call('POST', '/broadcasts', { session, body: draftBroadcast(mailhorn) })
  return body.id
}

/** Sends the request with a new session, because some routes end all other sessions. */
async function send(route: Route, body: Body, spelling = (id: string) => id): Promise<ApiAnswer> {
  const params = paramsOf(owned, route)
  if (route.path === '/broadcasts/:id/send') params.id = await aDraft()
  if (route.path === '/emails/:id') params.id = await mailhorn.send({ ...MAIL, scheduled_at: inAnHour() })
  const target = filled(
    route,
    Object.fromEntries(Object.entries(params).map(([name, value]) => [name, spelling(value)])),
  )
  const session = openSession(mailhorn, 'bearer')
  const payload = isList(route) ? [body] : body
  return mailhorn.call(route.method, target, { session, body: payload })
}

const isList = ({ body }: Route) => body instanceof z.ZodArray

const objectOf = ({ body }: Route) => (body instanceof z.ZodArray ? body.element : body) as z.ZodObject

interface Key {
  key: string
  optional: boolean
  /** Whether an empty list means absent. */
  emptyList: boolean
  /** Kinds of values that its schema allows. */
  types: ReadonlySet<string>
}

function keysOf(route: Route): Key[] {
  const schema = objectOf(route)
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' })
  const emptyLists = emptyListsOf(schema)
  return Object.entries(schema.shape).map(([key, field]) => ({
    key,
    optional: (field as z.ZodType).safeParse(undefined).success,
    emptyList: emptyLists.includes(key),
    types: typesIn(properties[key]),
  }))
}

function typesIn(schema: z.core.JSONSchema._JSONSchema | undefined): Set<string> {
  if (typeof schema !== 'object') return new Set()
  if (schema.anyOf) return new Set(schema.anyOf.flatMap(one => [...typesIn(one)]))
  if (schema.enum) return new Set(['enum'])
  return new Set([schema.type ?? 'string'].flat().map(type => (type === 'integer' ? 'number' : type)))
}

/** Empty values by the kind of value that they are. */
const EMPTY: Readonly<Record<string, unknown>> = {
  array: [],
  string: '',
  object: {},
  number: 0,
  boolean: false,
}

/** Keys for which an empty text is refused, because it would widen what the request applies to. */
const RESTRICTING = /^(?:domain|destination|plan|.+_(?:id|at|in))$/
/** Fields for which an empty string is documented to remove the value, or to select a default. */
const REMOVING = new Map([
  ['PATCH /broadcasts/:id', ['segment_id', 'topic_id', 'template_id']],
  ['POST /emails/:id/share', ['expires_in']],
])

for (const route of routes) {
  const name = `${route.method} ${route.path}`
  const good = async (change: (body: Body) => Body, what: string) => {
    const answer = await send(route, change(goodBody(route)))
    assert.ok(answer.status < 300, `${what}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  // an empty value must not lift a limit of an access token
  const isLimit = (key: string) => route.path === '/access-tokens' && key !== 'operator'
  const optional = keysOf(route).filter(({ key, optional }) => optional && !isLimit(key))

  test(`${name}: null means absent, and an empty list where a list is expected`, async () => {
    for (const { key, emptyList } of optional)
      for (const nothing of emptyList ? [null, []] : [null])
        await good(body => ({ [key]: nothing, ...body }), `${key}: ${JSON.stringify(nothing)}`)
    const all = Object.fromEntries(optional.map(({ key }) => [key, null]))
    await good(body => ({ ...all, ...body }), 'all null')
  })

  test(`${name}: an empty value of another kind is refused, and so is an empty reference`, async () => {
    for (const { key, emptyList, types } of optional)
      for (const [kind, empty] of Object.entries(EMPTY)) {
        const isRestricting = empty === '' && RESTRICTING.test(key) && !REMOVING.get(name)?.includes(key)
        if (kind === 'array' ? emptyList : types.has(kind) && !isRestricting) continue
        // an empty text also means absent for some choices, such as the reason of a suppression
        if (empty === '' && types.has('enum')) continue
        const answer = await send(route, { ...goodBody(route), [key]: empty })
        const message = `${key}: ${JSON.stringify(empty)} ${answer.status} ${JSON.stringify(answer.body)}`
        assert.is(answer.status, 422, message)
        assert.ok(answer.body.errors[0].path.replace(/^\[0\]\./, '').startsWith(key), message)
      }
  })

  test(`${name}: what must be there and is null, or an empty list, is missing`, async () => {
    for (const { key, optional, emptyList } of keysOf(route).filter(({ optional }) => !optional))
      for (const nothing of emptyList ? [null, [], undefined] : [null, undefined]) {
        if (!(key in goodBody(route))) continue
        const answer = await send(route, { ...goodBody(route), [key]: nothing })
        assert.not(optional)
        const path = isList(route) ? `[0].${key}` : key
        assert.equal([answer.status, answer.body.name], [422, 'missing_required_field'], key)
        assert.is(answer.body.errors[0].path, path)
      }
  })

  test(`${name}: camelCase is taken where snake_case is absent`, async () => {
    for (const key of Object.keys(goodBody(route)).filter(key => key.includes('_'))) {
      const turn = ({ [key]: value, ...body }: Body) => ({ ...body, [camel(key)]: value })
      await good(turn, camel(key))
      await good(body => ({ ...turn(body), [key]: null }), `${key}: null beside ${camel(key)}`)
      await good(body => ({ ...body, [camel(key)]: { nonsense: true } }), `${key} before ${camel(key)}`)
    }
  })

  test(`${name}: keys that nobody knows are ignored`, async () => {
    const clutter = { id: 5, object: [], email_id: 'eml_x', created_at: {}, nonsense: null, toString: 'x' }
    const known = new Set(keysOf(route).map(({ key }) => key))
    const unknown = Object.fromEntries(Object.entries(clutter).filter(([key]) => !known.has(key)))
    await good(body => ({ ...unknown, ...body }), 'clutter')
  })

  if (/:/.test(route.path))
    test(`${name}: ids are taken with and without their prefix, others are unknown`, async () => {
      const bare = (id: string) => id.replace(/^[a-z]+_/, '')
      for (const spelling of [bare, (id: string) => bare(id).toUpperCase()]) {
        const answer = await send(route, goodBody(route), spelling)
        assert.ok(answer.status < 300, JSON.stringify(answer.body))
      }
      for (const prefix of ['dom', 'usr', 'x', ''].filter(
        prefix => !prefixOf(route).startsWith(`${prefix}_`),
      )) {
        const answer = await send(route, goodBody(route), id => `${prefix}_${bare(id)}`)
        assertRefusal(answer, { status: 404, name: 'not_found' })
      }
    })
}

const camel = (key: string) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const prefixOf = (route: Route) => Object.values(paramsOf(owned, route))[0]!

test.run()
