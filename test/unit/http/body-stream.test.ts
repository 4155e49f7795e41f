import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import Koa from 'koa'
import * as assert from 'uvu/assert'
import { createBodyStreams } from '../../../src/http/body-stream.ts'
import { Refused } from '../../../src/http/refused.ts'
import { startHttpServer } from '../../../src/http/server.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('http/body-stream')
const LIMIT_BYTES = 1_000

async function open(t: TestContext, limits: { requestTimeoutMs?: number } = {}) {
  const clock = createManualClock()
  const streams = createBodyStreams(clock)
  const app = new Koa()
  app.silent = true
  app.use(async ctx => {
    if (ctx.path !== '/stream') {
      ctx.body = await text(ctx.req)
      return
    }
    try {
      ctx.body = (await Array.fromAsync(streams.stream(ctx.req, LIMIT_BYTES))).map(String).join('')
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      ctx.status = error.status
      ctx.body = 'too large'
    }
  })
  const options = { host: '127.0.0.1', port: 0, isPatientWith: streams.isReading }
  const server = await startHttpServer(app, { ...options, ...limits })
  t.after(() => server.close(0))
  const { port } = server.address()
  return { clock, port, url: `http://127.0.0.1:${port}` }
}

test('a body that is read as it comes outlasts the limit on the time of others', async t => {
  const { port, url } = await open(t, { requestTimeoutMs: 500 })
  const patient = httpRequest(`${url}/stream`, { method: 'POST' })
  const answer = new Promise<string>((resolve, reject) =>
    patient.on('response', response => resolve(text(response))).on('error', reject),
  )
  patient.write('first, ')
  const other = connect(port, '127.0.0.1')
  other.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n')
  assert.match(await text(other), /^HTTP\/1.1 408 /)
  patient.end('last')
  assert.is(await answer, 'first, last')
})

test('more than there may be is refused', async t => {
  const { url } = await open(t)
  const post = (size: number) => fetch(`${url}/stream`, { method: 'POST', body: 'x'.repeat(size) })
  assert.is((await post(1_000)).status, 200)
  assert.is((await post(1_001)).status, 413)
})

test.run()
