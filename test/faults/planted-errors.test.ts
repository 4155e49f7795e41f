/**
 * Each system call for a socket or a child process fails, one kind after another, while the real program
 * works: it lives, answers and has logged the error.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Program, printedApiKey, startProgram } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import type { PlantedErrno } from './planted-errno.ts'
import { FROM_DOMAIN, firstStart, openScene, PASSWORD } from './scene.ts'

const test = suite('planted errors', { limitMs: 240_000 })
const preload = new URL('./planted-errno.ts', import.meta.url)

const CODES = ['ENETUNREACH', 'EMFILE', 'EACCES', 'ECONNRESET'] as const
/**
 * Connections come first, since a session to a mail host is kept, then starts of processes, since a process
 * that runs is not started.
 */
const PLANTED: PlantedErrno[] = [
  ...CODES.map(code => ({ call: 'net.connect' as const, code })),
  ...(['EMFILE', 'EACCES', 'EAGAIN'] as const).map(code => ({ call: 'spawn' as const, code })),
  ...(['dgram.bind', 'dgram.connect', 'dgram.send', 'net.accept'] as const).flatMap(call =>
    CODES.map(code => ({ call, code })),
  ),
  { call: 'net.write', code: 'ECONNRESET' },
  { call: 'net.write', code: 'EPIPE' },
  { call: 'net.read', code: 'ECONNRESET' },
  { call: 'net.read', code: 'ETIMEDOUT' },
]

async function open(t: TestContext) {
  const scene = await openScene(t)
  const settings = {
    ...scene.settings,
    LOG_LEVEL: 'debug',
    WEBHOOKS_ALLOW_INSECURE_LOOPBACK: 'true',
    FETCH_ALLOW_LOOPBACK: 'true',
  }
  const first = await firstStart(scene)
  const key = printedApiKey(first)
  await first.end('SIGTERM')
  const program = await t.using(startProgram({ dataDir: scene.dataDir, settings, preload }))
  const login = { email: 'admin@mailhorn.test', password: PASSWORD }
  const { body } = await program.call('POST', '/auth/login', { body: login })
  const token = body.token as string
  const webhook = { url: 'http://127.0.0.1:9/hook', events: ['email.sent', 'email.delivered'] }
  await program.call('POST', '/webhooks', { token, body: webhook })
  const { body: domains } = await program.call('GET', '/domains', { token })
  const domain = (domains.data as { id: string }[])[0]!.id
  const folder = dirname(scene.dataDir)
  const files = { plan: join(folder, 'planted.json'), log: join(folder, 'planted.log') }
  return { scene, program, key, token, domain, files }
}

/** Reads until the other side ends, whatever happens. */
async function talk(port: number, text: string | Buffer) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {}).resume()
  socket.end(text)
  await once(socket, 'close')
}

/** Whatever opens a socket or starts a process; each may fail. */
function everything(
  { program, key, token, domain }: Awaited<ReturnType<typeof open>>,
  planted: PlantedErrno,
) {
  const inbound = program.logs.find(({ event }) => event === 'ready')!.inbound as { port: number }
  const email = { from: `ann@${FROM_DOMAIN}`, to: 'ok@there.example', subject: 's', text: 't' }
  const large = { ...email, text: 'x'.repeat(3_000_000) }
  const call = (...args: Parameters<Program['call']>) => program.call(...args)
  const asker = createSocket('udp4').on('error', () => {})
  const question = Buffer.from('0102010000010000000000000865' + '78616d706c65730000010001', 'hex')
  asker.send(question, program.dnsPort, '127.0.0.1', () => asker.close())
  return Promise.allSettled([
    call('POST', `/domains/${domain}/verify`, { token }),
    call('GET', '/doctor', { token }),
    call('POST', '/emails', { token: key, body: email }),
    ...(planted.call === 'net.connect' ? [] : [call('POST', '/emails', { token: key, body: large })]),
    talk(program.dnsPort, Buffer.concat([Buffer.from([0, question.length]), question])),
    talk(inbound.port, 'EHLO x.example\r\nSTARTTLS\r\nQUIT\r\n'),
    talk(
      Number(new URL(program.baseUrl).port),
      'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ),
  ])
}

test('each planted error leaves the service alive, and it is logged or answered', async t => {
  const opened = await open(t)
  const { program, files } = opened
  let end: unknown
  void program.ended.then(ended => {
    end = ended
  })
  for (const planted of PLANTED) {
    const name = `${planted.call} ${planted.code}`
    // given a call that fails
    const before = program.logs.length
    writeFileSync(files.plan, JSON.stringify(planted))
    // when the service does everything that needs such calls
    await everything(opened, planted)
    await until(() => end !== undefined || existsSync(files.log))
    rmSync(files.plan)
    // then it lives, answers, and has logged events meanwhile
    const status = await until(async () =>
      end === undefined ? (await program.call('GET', '/healthz').catch(() => undefined))?.status : -1,
    )
    assert.is(end, undefined, `${name}: ${JSON.stringify(end)}`)
    assert.is(status, 200, name)
    assert.match(readFileSync(files.log, 'utf8'), name)
    rmSync(files.log)
    const events = program.logs.slice(before).map(({ event }) => event)
    // an error of a look-up stands in the answer, which is logged as http_request
    assert.ok(events.length > 0, name)
    assert.not(events.includes('uncaught_error'), name)
  }
})

test.run()
