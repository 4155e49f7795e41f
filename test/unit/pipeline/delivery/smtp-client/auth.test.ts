import * as assert from 'uvu/assert'
import { createClientContext } from '../../../../../src/pipeline/delivery/smtp-client/tls.ts'
import { type FakeMxOptions, startFakeMx } from '../../../../kit/fake-mx.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { testAuthority } from '../../../../kit/tls.ts'
import {
  createLog,
  type DialOptions,
  dial,
  dialInVain,
  mailTo,
  short,
  shortFailure,
  startPeer,
} from './dial.ts'

const test = suite('SMTP client AUTH')

const login = { user: 'ann', password: 'open sésame' }
const base64 = (text: string) => Buffer.from(text).toString('base64')
const SECRETS = [login.password, base64(login.password), base64(`\0${login.user}\0${login.password}`)]
const strict: DialOptions = {
  tls: 'required',
  secureContext: createClientContext([testAuthority()]),
  rejectUnauthorized: true,
  login,
}

function startRelay(t: TestContext, options: FakeMxOptions = {}) {
  return t.using(startFakeMx({ tls: 'good', login, ...options }))
}

function assertNoSecret(...texts: unknown[]) {
  const text = JSON.stringify(texts)
  for (const secret of SECRETS) assert.not.match(text, secret)
}

for (const [mechanisms, command] of [
  ['LOGIN PLAIN', /C: AUTH PLAIN /],
  ['CRAM-MD5 login', /C: AUTH LOGIN$/],
] as const)
  test(`logs in where ${mechanisms} is offered, and sends`, async t => {
    const relay = await startRelay(t, { login: { ...login, mechanisms } })
    const { lines, log } = createLog()
    const session = await dial(t, relay, { ...strict, log })
    assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
    assert.ok(relay.transcript.some(line => command.test(line)))
    assert.is(session.facts.replies.auth?.code, 235)
    assert.type(session.facts.timings.auth, 'number')
    assert.equal(relay.violations, [])
    assert.ok(lines.some(line => /^C: AUTH /.test(line)))
    assertNoSecret(lines, session.facts)
  })

test('implicit TLS starts with the handshake', async t => {
  const relay = await startRelay(t, { implicitTls: true })
  const session = await dial(t, relay, { ...strict, tls: 'implicit' })
  assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
  assert.is(session.facts.tls?.authorized, true)
  assert.not.ok(relay.transcript.some(line => /STARTTLS/.test(line)))
  assert.equal(Object.keys(session.facts.timings), ['connect', 'tls', 'banner', 'ehlo', 'auth'])
  assert.equal(relay.violations, [])
})

test('a relay configured by address must present a certificate for the address', async t => {
  const relay = await startRelay(t)
  await dial(t, relay, { ...strict, mxHost: '127.0.0.1' })
  const { failure } = await dialInVain(relay, { ...strict, mxHost: '127.0.0.7' })
  assert.is(shortFailure(failure), 'tls tls')
})

for (const [name, options, over, expected] of [
  ['in plain text', { tls: 'off' }, { tls: 'opportunistic' }, 'auth tls'],
  ['in plain text by our own will', {}, { tls: 'none' }, 'auth tls'],
  ['where STARTTLS is not offered', { tls: 'off' }, {}, 'starttls tls'],
  ['to another name', { tls: 'wrong-name' }, {}, 'tls tls'],
  ['to another name that is put up with', { tls: 'wrong-name' }, { rejectUnauthorized: false }, 'auth tls'],
  ['with an expired certificate', { tls: 'expired' }, {}, 'tls tls'],
  ['before a handshake that fails', { tls: 'handshake-fails' }, {}, 'tls tls'],
] as const)
  test(`no login leaves ${name}`, async t => {
    const relay = await startRelay(t, options)
    const { failure } = await dialInVain(relay, { ...strict, ...over })
    assert.is(shortFailure(failure), expected)
    assert.not.ok(relay.transcript.some(line => /C: AUTH/.test(line)))
    assertNoSecret(failure, relay.transcript)
  })

test('a relay without a supported AUTH mechanism fails', async t => {
  for (const options of [{ login: { ...login, mechanisms: 'CRAM-MD5' } }, { login: undefined }] as never[]) {
    const relay = await startRelay(t, options)
    const { failure } = await dialInVain(relay, strict)
    assert.is(shortFailure(failure), 'auth protocol')
    assert.match(failure.message, 'offers no login that we know')
  }
})

for (const mechanisms of ['PLAIN', 'LOGIN'])
  test(`a wrong password is the relay’s 535, and stays ours though it repeats it (${mechanisms})`, async t => {
    const relay = await startRelay(t, { login: { user: 'ann', password: 'another', mechanisms } })
    const { lines, log } = createLog()
    const inVain = await dialInVain(relay, { ...strict, log })
    assert.is(shortFailure(inVain.failure), 'auth reply 535')
    assert.match(inVain.failure.message, '535 5.7.8')
    assert.match(inVain.failure.message, '(hidden)')
    assertNoSecret(inVain)
    assertNoSecret(lines.filter(line => line.startsWith('C:')))
  })

for (const [fault, expected] of [
  ['454 4.7.0 later', 'auth reply 454'],
  ['334 more', 'auth protocol'],
  ['250 fine', 'auth protocol'],
  ['drop', 'auth closed'],
  ['garbage', 'auth protocol'],
] as const)
  test(`${fault} in place of the welcome: ${expected}`, async t => {
    const relay = await startRelay(t, { at: { auth: fault } })
    const { failure } = await dialInVain(relay, strict)
    assert.is(shortFailure(failure), expected)
  })

test('a relay that greets in plain text fails implicit TLS', async t => {
  const peer = await t.using(startPeer(socket => void socket.write('220 mx.test ESMTP\r\n')))
  const { failure } = await dialInVain(peer as never, { ...strict, tls: 'implicit' })
  assert.is(shortFailure(failure), 'tls tls')
})

test.run()
