import Koa from 'koa'
import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import { streamBody } from '../../../../../src/interfaces/api/body/stream.ts'
import { startHttpServer } from '../../../../../src/interfaces/api/server/server.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'

const test = suite('http/body-stream')
const LIMIT_BYTES = 1_000

async function open(t: TestContext) {
  const app = new Koa()
  app.silent = true
  app.use(async ctx => {
    try {
      ctx.body = (await Array.fromAsync(streamBody(ctx.req, LIMIT_BYTES))).map(String).join('')
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      ctx.status = error.status
      ctx.body = 'too large'
    }
  })
  const server = await startHttpServer(app, { host: '127.0.0.1', port: 0 })
  t.after(() => server.close(0))
  return `http://127.0.0.1:${server.address().port}`
}

test('streamed body: the bytes are unchanged', async t => {
  const url = await open(t)
  assert.is(await (await fetch(url, { method: 'POST', body: 'all of it' })).text(), 'all of it')
})

test('streamed body: a body above the limit is refused', async t => {
  const url = await open(t)
  const post = (size: number) => fetch(url, { method: 'POST', body: 'x'.repeat(size) })
  assert.is((await post(1_000)).status, 200)
  assert.is((await post(1_001)).status, 413)
})

test.run()
