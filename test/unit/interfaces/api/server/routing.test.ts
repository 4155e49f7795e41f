import * as assert from 'uvu/assert'
import { createRouting, readParameters } from '../../../../../src/interfaces/api/server/routing.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http/routing')

const ROUTES = [
  { method: 'GET', path: '/' },
  { method: 'POST', path: '/emails' },
  { method: 'GET', path: '/emails' },
  { method: 'GET', path: '/emails/:id' },
  { method: 'PATCH', path: '/emails/:id' },
  { method: 'GET', path: '/emailsets/:id/emails' },
] as const

const routing = createRouting(ROUTES, ({ method, path }) => async ctx => {
  ctx.body = `${method} ${path} ${JSON.stringify(ctx.params)}`
})

/** Returns the name of the route that replies, or null without one. */
async function answerTo(method: string, path: string): Promise<string | null> {
  const ctx = { method, path, body: null as string | null, request: {} }
  await routing.dispatch(ctx as never, async () => {})
  return ctx.body
}

test('routing: a route is found by method and path, with its parameters', async () => {
  assert.is(await answerTo('POST', '/emails'), 'POST /emails {}')
  assert.is(await answerTo('PATCH', '/emails/a%20b'), 'PATCH /emails/:id {"id":"a b"}')
  assert.is(await answerTo('GET', '/emailsets/7/emails'), 'GET /emailsets/:id/emails {"id":"7"}')
  assert.is(await answerTo('GET', '/'), 'GET / {}')
})

test('routing: a path with a common prefix is not found', async () => {
  for (const path of [
    '/email',
    '/emailsets',
    '/emails/1/2',
    '/Emails',
    '/__proto__',
    '/emails%2F1',
    '//emails',
  ])
    assert.is(await answerTo('GET', path), null)
  assert.is(await answerTo('DELETE', '/emails'), null)
})

test('routing: the methods of a path are listed', () => {
  assert.equal(routing.methodsOf('/emails').toSorted(), ['GET', 'HEAD', 'POST'])
  assert.equal(routing.methodsOf('/emails/1').toSorted(), ['GET', 'HEAD', 'PATCH'])
  assert.equal(routing.methodsOf('/nothing'), [])
})

test('routing: an empty parameter counts as absent, unless it names a resource', () => {
  for (const [query, read] of [
    ['limit=', ''],
    ['limit=&after=', ''],
    ['limit=&status=sent', 'status=sent'],
    ['topic_id=', 'topic_id='],
    ['topic_id=&limit=', 'topic_id='],
  ] as const)
    assert.is(readParameters(query, {}).toString(), read, query)
})

test.run()
