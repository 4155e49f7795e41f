import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { rawRequest } from '../../kit/raw-http.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** Less than requests under way are given, by a clock that is in no hurry: what waits for that is seen. */
const test = suite('stopping over HTTP', { limitMs: 60_000 })
const BODY = JSON.stringify({ from: 'a@b.example', to: 'delivered@simulator.test', subject: 's', text: 't' })

interface Connection {
  socket: Socket
  received(): string
  closed: Promise<unknown>
}

async function open({ baseUrl }: Mailhorn): Promise<Connection> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  return { socket, received: () => received, closed: new Promise(resolve => socket.once('close', resolve)) }
}

test('stop: a request in progress is answered with Connection: close', async t => {
  const mailhorn = await startMailhorn()
  t.after(() => mailhorn.close())
  const { socket, received, closed } = await open(mailhorn)
  socket.write(
    `POST /emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${mailhorn.apiKey}\r\nExpect: 100-continue\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`,
  )
  await until(() => received().includes('100 Continue'))
  const stopped = mailhorn.app.stop()
  socket.write(BODY)
  await closed
  await stopped
  assert.match(received(), /\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
  assert.match(received(), /\r\nconnection: close\r\n/i)
  assert.equal(mailhorn.rows('select count(*) as count from emails'), [{ count: 1 }])
})

test('stop: an idle connection does not delay it, and new connections are refused', async () => {
  const mailhorn = await startMailhorn()
  const { socket, received, closed } = await open(mailhorn)
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => received().includes('{"status":"ok"}'))
  await mailhorn.close()
  await closed
  const refused = await rawRequest(mailhorn.baseUrl, 'GET /healthz HTTP/1.0\r\n\r\n').catch(error => error)
  assert.match(`${refused}`, /without a reply/)
})

test('stop: a connection without a request does not delay it', async () => {
  const mailhorn = await startMailhorn()
  const { closed } = await open(mailhorn)
  await rawRequest(mailhorn.baseUrl, 'GET /healthz HTTP/1.0\r\n\r\n')
  await mailhorn.close()
  await closed
})

test('a start that fails late leaves neither the listener nor the lock of the data folder', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const env = { MAILHORN_HTTP_LISTEN: `127.0.0.1:${await freePort()}` }
  const relay = {
    MAILHORN_SMTP_RELAY_LISTEN: '127.0.0.1:0',
    MAILHORN_SMTP_RELAY_NETWORKS: '127.0.0.0/8',
    MAILHORN_SMTP_RELAY_ACCOUNT: 'nobody@there.example',
  }
  const error = await startMailhorn({ dataDir, env: { ...env, ...relay } }).catch(error => error)
  assert.match(`${error}`, /there is no user nobody@there\.example/)
  const mailhorn = await startMailhorn({ dataDir, env })
  await mailhorn.close()
})

test.run()
