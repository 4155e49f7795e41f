import { createSecureContext } from 'node:tls'
import * as assert from 'uvu/assert'
import { openSession } from '../../../../../src/pipeline/delivery/smtp-client/open.ts'
import { createTickets } from '../../../../../src/pipeline/delivery/smtp-client/tickets.ts'
import { createReducedContext } from '../../../../../src/pipeline/delivery/smtp-client/tls.ts'
import { startFakeMx } from '../../../../kit/fake-mx.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { suite } from '../../../../kit/suite.ts'
import { testAuthority } from '../../../../kit/tls.ts'
import { dial, dialInVain, mailTo, optionsFor, short, shortFailure, startPeer } from './dial.ts'

const test = suite('SMTP client TLS')
const trusting = createSecureContext({ ca: testAuthority(), minVersion: 'TLSv1.2' })

test('opportunistic TLS takes any certificate and says what it was worth', async t => {
  const mx = await t.using(startFakeMx({ tls: 'good' }))
  const session = await dial(t, mx, { tls: 'opportunistic' })
  const { tls, tlsFallback, extensions, timings } = session.facts
  assert.ok(tls !== null)
  assert.is(tls.protocol, 'TLSv1.3')
  assert.match(tls.cipher, /AES|CHACHA/)
  assert.equal([tls.authorized, tls.unauthorizedReason], [false, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])
  assert.is(tlsFallback, null)
  assert.not.ok(extensions.has('STARTTLS'))
  assert.equal(Object.keys(timings), ['connect', 'banner', 'ehlo', 'starttls', 'tls'])
  assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
  assert.is(mx.messages[0]!.tls, true)
})

for (const [certificate, reason] of [
  ['good', null],
  ['expired', 'CERT_HAS_EXPIRED'],
  ['wrong-name', 'ERR_TLS_CERT_ALTNAME_INVALID'],
] as const)
  test(`tells what a trusted authority's ${certificate} certificate lacks, and delivers all the same`, async t => {
    const mx = await t.using(startFakeMx({ tls: certificate }))
    const session = await dial(t, mx, { tls: 'opportunistic', secureContext: trusting })
    assert.is(session.facts.tls?.unauthorizedReason, reason)
    assert.is(session.facts.tls?.authorized, reason === null)
    assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
  })

test('the MX host is named in SNI, an address is not', async t => {
  const mx = await t.using(startFakeMx({ tls: 'good' }))
  await dial(t, mx, { tls: 'required', mxHost: 'mx1.there.test' })
  await mx.until(/1 -: TLSv1.3 for mx1.there.test/)
  await dial(t, mx, { tls: 'required', mxHost: '127.0.0.1' })
  await mx.until(/2 -: TLSv1.3 for false/)
  await dial(t, mx, { tls: 'required', mxHost: 'mx1.there.test', serverName: 'real.there.test' })
  await mx.until(/3 -: TLSv1.3 for real.there.test/)
})

for (const [certificate, code] of [
  ['expired', 'CERT_HAS_EXPIRED'],
  ['wrong-name', 'ERR_TLS_CERT_ALTNAME_INVALID'],
] as const)
  test(`a policy that verifies refuses the ${certificate} certificate and gives the reason`, async t => {
    const mx = await t.using(startFakeMx({ tls: certificate }))
    const options = { tls: 'required', secureContext: trusting, rejectUnauthorized: true } as const
    const { failure, tlsFallback } = await dialInVain(mx, options)
    assert.is(shortFailure(failure), 'tls tls')
    assert.is(failure.code, code)
    assert.is(tlsFallback, null)
    assert.is(mx.sessionCount, 1)
  })

test('a policy can put its own check in place of that of names', async t => {
  const mx = await t.using(startFakeMx({ tls: 'wrong-name' }))
  const seen: string[] = []
  const checkServerIdentity = (host: string) => void seen.push(host)
  const options = { secureContext: trusting, rejectUnauthorized: true, checkServerIdentity } as const
  const { facts } = await dial(t, mx, { tls: 'required', ...options })
  assert.is(facts.tls?.authorized, true)
  assert.equal(seen, ['mx.test'])
})

for (const [what, mode, reason] of [
  ['the handshake fails', 'handshake-fails', 'tls tls'],
  ['STARTTLS is refused', 'refused-454', 'starttls reply 454'],
] as const) {
  test(`where ${what}, an opportunistic session goes on in plain text over a new connection`, async t => {
    const mx = await t.using(startFakeMx({ tls: mode }))
    const session = await dial(t, mx, { tls: 'opportunistic' })
    assert.is(session.facts.tls, null)
    assert.is(shortFailure(session.facts.tlsFallback!), reason)
    assert.is(mx.sessionCount, 2)
    assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
    assert.equal([mx.messages[0]!.tls, mx.messages[0]!.sessionId], [false, 2])
    assert.not.ok(mx.transcript.includes('2 C: STARTTLS'))
  })

  test(`where ${what}, a session that requires TLS fails and nothing is sent`, async t => {
    const mx = await t.using(startFakeMx({ tls: mode }))
    const { failure, tlsFallback } = await dialInVain(mx, { tls: 'required' })
    assert.is(shortFailure(failure), reason)
    assert.is(tlsFallback, null)
    assert.is(mx.sessionCount, 1)
  })
}

for (const [point, fault, reason] of [
  ['starttls', '501 5.5.4 syntax', 'starttls reply 501'],
  ['starttls', 'drop', 'starttls closed'],
  ['starttls', 'garbage', 'starttls protocol'],
  ['tls', 'drop', 'tls tls'],
  ['tls', 'reset', 'tls tls'],
] as const)
  test(`${fault} at ${point} leads to plain text`, async t => {
    const mx = await t.using(startFakeMx({ tls: 'good', at: { [point]: fault } }))
    const { facts } = await dial(t, mx, { tls: 'opportunistic' })
    assert.is(shortFailure(facts.tlsFallback!), reason)
    assert.is(facts.tls, null)
  })

for (const mode of ['opportunistic', 'required'] as const)
  test(`where the handshake breaks, one that offers less is made before anything else: ${mode}`, async t => {
    const at = { tls: (times: number) => (times === 0 ? ('drop' as const) : undefined) }
    const mx = await t.using(startFakeMx({ tls: 'good', at }))
    const { facts } = await dial(t, mx, {
      tls: mode,
      secureContext: trusting,
      fallbackContext: createReducedContext([testAuthority()]),
      rejectUnauthorized: mode === 'required',
    })
    assert.equal([facts.tls?.protocol, facts.tls?.authorized], ['TLSv1.2', true])
    assert.is(shortFailure(facts.brokenHandshake!), 'tls tls')
    assert.equal([facts.tlsFallback, mx.sessionCount], [null, 2])
  })

test('where that breaks, too, plain text comes third, or nothing', async t => {
  const mx = await t.using(startFakeMx({ tls: 'handshake-fails' }))
  const fallbackContext = createReducedContext()
  const { facts } = await dial(t, mx, { tls: 'opportunistic', fallbackContext })
  assert.equal([facts.tls, shortFailure(facts.tlsFallback!), facts.brokenHandshake], [null, 'tls tls', null])
  assert.is(mx.sessionCount, 3)
  const { failure } = await dialInVain(mx, { tls: 'required', fallbackContext })
  assert.equal([shortFailure(failure), mx.sessionCount], ['tls tls', 5])
})

for (const [mode, text] of [
  ['self-signed', 'self-signed certificate'],
  ['1.0-only', 'TLS broke: tlsv1 alert protocol version'],
] as const)
  test(`the fault of TLS ${mode} is told in words for whoever reads the email's error`, async t => {
    const mx = await t.using(startFakeMx({ tls: mode }))
    const { failure } = await dialInVain(mx, { tls: 'required', rejectUnauthorized: true })
    assert.is(failure.message, text)
  })

test('a certificate that does not verify is not looked at twice', async t => {
  const mx = await t.using(startFakeMx({ tls: 'expired' }))
  const { failure } = await dialInVain(mx, {
    tls: 'required',
    secureContext: trusting,
    fallbackContext: createReducedContext([testAuthority()]),
    rejectUnauthorized: true,
  })
  assert.equal([failure.code, mx.sessionCount], ['CERT_HAS_EXPIRED', 1])
})

test('the greeting that offers less is short', async t => {
  const sizes: number[] = []
  const peer = await t.using(
    startPeer(socket => {
      socket.write('220 mx.test\r\n')
      socket.once('data', () => {
        socket.write('250-mx.test\r\n250 STARTTLS\r\n')
        socket.once('data', () => {
          socket.write('220 go ahead\r\n')
          socket.once('data', hello => {
            sizes.push(hello.length)
            socket.destroy()
          })
        })
      })
    }),
  )
  const fallbackContext = createReducedContext()
  await openSession(optionsFor(peer, { tls: 'required', mxHost: 'mx.there.test', fallbackContext }))
  const [full, reduced] = sizes
  assert.ok(full! > 1_000, `${full}`)
  assert.ok(reduced! < 256, `${reduced}`)
})

test('the fallback is tried once, and its own failure is the one that counts', async t => {
  const at = { banner: (times: number) => (times === 0 ? undefined : '554 5.7.1 enough') }
  const mx = await t.using(startFakeMx({ tls: 'handshake-fails', at }))
  const { failure, tlsFallback } = await dialInVain(mx, { tls: 'opportunistic' })
  assert.is(shortFailure(failure), 'banner reply 554')
  assert.is(shortFailure(tlsFallback!), 'tls tls')
  assert.is(mx.sessionCount, 2)
})

for (const [what, at] of [
  ['before TLS comes up', { ehlo: '421 4.3.2 closing' }],
  ['in answer to STARTTLS', { starttls: '421 4.3.2 closing' }],
] as const)
  test(`421 ${what} sends an opportunistic session away for good`, async t => {
    const mx = await t.using(startFakeMx({ tls: 'good', at }))
    const { failure } = await dialInVain(mx, { tls: 'opportunistic' })
    assert.is(shortFailure(failure), `${Object.keys(at)[0]} reply 421`)
    assert.is(mx.sessionCount, 1)
  })

test('a peer without STARTTLS: plain text is fine for opportunistic, a failure where TLS is required', async t => {
  const mx = await t.using(startFakeMx({ tls: 'off' }))
  const { facts } = await dial(t, mx, { tls: 'opportunistic' })
  assert.equal([facts.tls, facts.tlsFallback], [null, null])
  const { failure } = await dialInVain(mx, { tls: 'required' })
  assert.is(shortFailure(failure), 'starttls tls')
})

test('TLS that is offered is left alone where it is not wanted', async t => {
  const mx = await t.using(startFakeMx({ tls: 'good' }))
  const { facts } = await dial(t, mx, { tls: 'none' })
  assert.ok(facts.extensions.has('STARTTLS'))
  assert.is(facts.tls, null)
})

test('plain text injected after the reply to STARTTLS never counts as said under TLS', async t => {
  const injected = '250-mx.test\r\n250 X-INJECTED\r\n250 2.0.0 taken\r\n'
  const mx = await t.using(startFakeMx({ tls: 'good', injectAfterStartTls: injected }))
  const session = await dial(t, mx, { tls: 'required' })
  assert.not.ok(session.facts.extensions.has('X-INJECTED'))
  assert.equal(short(await session.send(mailTo('perm-550-511'))), ['refused rcpt 550 5.1.1'])
})

test('what was offered before TLS does not hold after it', async t => {
  const mx = await t.using(startFakeMx({ tls: 'good', at: { 'ehlo-tls': '250-mx.test\r\n250 SIZE 10' } }))
  const { facts } = await dial(t, mx, { tls: 'required' })
  assert.equal([...facts.extensions], [['SIZE', '10']])
})

test('no protocol below TLS 1.2 is spoken', async t => {
  const old = createSecureContext({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })
  const mx = await t.using(startFakeMx({ tls: 'good' }))
  const { facts } = await dial(t, mx, { tls: 'required', secureContext: old })
  assert.is(facts.tls?.protocol, 'TLSv1.2')
})

for (const [certificate, reason] of [
  ['good', null],
  ['wrong-name', 'ERR_TLS_CERT_ALTNAME_INVALID'],
] as const)
  test(`a resumed session is worth what the ${certificate} certificate was when it was shown`, async t => {
    const mx = await t.using(startFakeMx({ tls: certificate }))
    const tickets = createTickets(createManualClock())
    const options = { tls: 'opportunistic', secureContext: trusting, tickets } as const
    for (const isResumed of [false, true]) {
      const session = await dial(t, mx, options)
      assert.is(session.facts.tls?.unauthorizedReason, reason)
      assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
      await mx.until(new RegExp(`-: session ${isResumed ? 'resumed' : 'new'}`))
      assert.ok(tickets.take('mx.test'))
    }
  })

test('a ticket is kept for an hour, and for one host', () => {
  const clock = createManualClock()
  const tickets = createTickets(clock)
  tickets.give('mx.test', { session: Buffer.from('ticket'), unauthorizedReason: null })
  assert.is(tickets.take('other.test'), undefined)
  assert.ok(tickets.take('mx.test'))
  clock.advance(3_600_000)
  assert.is(tickets.take('mx.test'), undefined)
})

test('a check of the peer takes the place of the authorities', async t => {
  const mx = await t.using(startFakeMx({ tls: 'wrong-name' }))
  const seen: string[] = []
  const checkPeer = (verdict: string | undefined) => (socket: import('node:tls').TLSSocket) => {
    seen.push(String(socket.getPeerX509Certificate()?.subjectAltName))
    return verdict
  }
  const { facts } = await dial(t, mx, { tls: 'required', checkPeer: checkPeer(undefined) })
  assert.ok(facts.tls)
  const { failure } = await dialInVain(mx, { tls: 'required', checkPeer: checkPeer('no TLSA record fits') })
  assert.equal([shortFailure(failure), failure.message], ['tls tls', 'no TLSA record fits'])
  assert.equal(seen, ['DNS:elsewhere.invalid', 'DNS:elsewhere.invalid'])
})

test.run()
