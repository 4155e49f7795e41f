import Koa from 'koa'
import * as assert from 'uvu/assert'
import { bindHttpServer } from '../../../../../src/interfaces/api/server/server.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('server/bind')

test('a bound listener has an address, and answers earlier requests once it serves an application', async t => {
  const server = await bindHttpServer({ host: '127.0.0.1', port: 0 })
  t.after(() => server.close(0))
  const early = fetch(`http://127.0.0.1:${server.address().port}/`)
  while (server.connectionCount() === 0) await new Promise(resolve => setImmediate(resolve))
  const app = new Koa()
  app.use(ctx => {
    ctx.body = 'served'
  })
  server.serve(app)
  assert.is(await (await early).text(), 'served')
  const late = await fetch(`http://127.0.0.1:${server.address().port}/`)
  assert.is(await late.text(), 'served')
})

test.run()
