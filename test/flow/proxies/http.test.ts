import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { binaryHeaderOf } from '../../kit/proxy-header.ts'
import { exchange } from '../../kit/raw-http.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** Limits of sign-in and the request log are about the client that a trusted proxy names. */
const test = suite('the API behind a proxy')

const PROXY = '127.9.9.9'
const STRANGER = '127.1.1.1'

let mailhorn: Mailhorn

test.before(async () => {
  mailhorn = await startMailhorn({ env: { MAILHORN_HTTP_TRUSTED_PROXIES: PROXY } })
  await mailhorn.signIn() // before strangers guess
})
test.after(() => mailhorn.close())

interface Request {
  from: string
  /** Header of the PROXY protocol. */
  header?: Uint8Array
  /** Value of the field `Forwarded`. */
  forwarded?: string
}

async function guessed({ from, header = Buffer.alloc(0), forwarded = '' }: Request): Promise<number> {
  const body = JSON.stringify({ email: mailhorn.admin.email, password: 'wrong' })
  const head = [
    'POST /auth/login HTTP/1.1',
    'host: mailhorn.test',
    'content-type: application/json',
    `content-length: ${body.length}`,
    ...(forwarded ? [`forwarded: ${forwarded}`] : []),
  ]
  const bytes = Buffer.concat([header, Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)])
  const { replies } = await exchange(mailhorn.baseUrl, bytes, { from })
  return replies[0]!.status
}

async function statusesOf(count: number, request: (i: number) => Request): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push(await guessed(request(i)))
  return statuses
}

test('wrong passwords count for the client in the PROXY header, not for others behind the proxy', async () => {
  const header = binaryHeaderOf('192.0.2.7')
  assert.equal(await statusesOf(6, () => ({ from: PROXY, header })), [401, 401, 401, 401, 401, 429])
  assert.is(await guessed({ from: PROXY, header: binaryHeaderOf('192.0.2.8') }), 401)
})

test('Forwarded of a stranger does not help to guess', async () => {
  const request = (i: number) => ({ from: STRANGER, forwarded: `for=198.51.100.${i}` })
  assert.is((await statusesOf(6, request)).at(-1), 429)
})

test('the request log has the address that the proxy names', async () => {
  for (const [address, pieces] of [
    ['192.0.2.11', binaryHeaderOf('192.0.2.11')],
    ['192.0.2.12', undefined],
  ] as const) {
    const head = `POST /emails HTTP/1.1\r\nhost: x\r\nuser-agent: of ${address}\r\nauthorization: Bearer ${mailhorn.apiKey}\r\n`
    const forwarded = pieces ? '' : `forwarded: for=198.51.100.1, for=${address}\r\n`
    const bytes = Buffer.concat([
      pieces ?? Buffer.alloc(0),
      Buffer.from(`${head}${forwarded}content-length: 0\r\n\r\n`),
    ])
    const { replies } = await exchange(mailhorn.baseUrl, bytes, { from: PROXY })
    assert.is(replies[0]?.status, 422)
    const logged = await until(async () => {
      const { body } = await mailhorn.call('GET', '/logs?limit=100', { session: await mailhorn.signIn() })
      return body.data.find((entry: { user_agent: string }) => entry.user_agent === `of ${address}`)
    })
    assert.is(logged.client_address, address)
  }
})

test.run()
