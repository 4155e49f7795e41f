import * as assert from 'uvu/assert'
import { systemClock } from '../../../../../src/lib/clock.ts'
import { createClientContext } from '../../../../../src/pipeline/delivery/smtp-client/tls.ts'
import {
  mxCertificateFault,
  mxFaultText,
} from '../../../../../src/pipeline/delivery/tls-policy/mx-certificate.ts'
import { type FakeMxOptions, startFakeMx } from '../../../../kit/fake-mx.ts'
import { freePort } from '../../../../kit/free-port.ts'
import { suite } from '../../../../kit/suite.ts'
import { testAuthority } from '../../../../kit/tls.ts'

const test = suite('certificate of an MX host')
const HOST = 'mx.test'

function check(addresses: readonly string[], port: number) {
  const secureContext = createClientContext([testAuthority()])
  const options = { port, secureContext, localName: 'sender.test', clock: systemClock }
  return mxCertificateFault({ host: HOST, addresses }, options)
}

const CASES: [tls: FakeMxOptions['tls'], reason: RegExp | undefined][] = [
  ['good', undefined],
  ['off', /does not offer STARTTLS/],
  ['refused-454', /454/],
  ['expired', /expired/],
  ['wrong-name', /does not match certificate's altnames/],
  ['self-signed', /self-signed certificate/],
  ['1.0-only', /TLS broke/],
  ['handshake-fails', /closed|TLS broke/],
]
for (const [tls, reason] of CASES)
  test(`port 25 with TLS ${tls}: ${reason ? `the fault is ${reason}` : 'a sender can verify it'}`, async t => {
    const mx = await t.using(startFakeMx({ host: '127.0.0.2', tls: tls! }))
    const fault = await check(['127.0.0.2'], mx.port)
    assert.equal(mx.violations, [])
    if (!reason) return assert.is(fault, undefined)
    assert.equal([fault?.host, fault?.address, fault?.isReached], [HOST, '127.0.0.2', true])
    assert.match(fault!.reason, reason)
    assert.match(
      mxFaultText(fault!, 25),
      /^Port 25 of mx\.test \(127\.0\.0\.2\) does not pass verification: /,
    )
  })

test('a host that refuses connections is told apart from one with a bad certificate', async () => {
  const port = await freePort()
  const fault = await check(['127.0.0.2'], port)
  assert.equal([fault?.isReached, fault?.address], [false, '127.0.0.2'])
  assert.match(
    mxFaultText(fault!, port),
    /cannot be reached from this host: .*ECONNREFUSED.*own public address/,
  )
})

test('a host without an address has a fault', async () => {
  const fault = await check([], 25)
  assert.equal(fault, { host: HOST, address: null, isReached: false, reason: 'the name has no address' })
})

test('of two addresses, a bad certificate at one is a fault, and one that is silent is not', async t => {
  const good = await t.using(startFakeMx({ host: '127.0.0.2', tls: 'good' }))
  assert.is(await check(['127.0.0.3', '127.0.0.2'], good.port), undefined)
  await t.using(startFakeMx({ host: '127.0.0.3', port: good.port, tls: 'self-signed' }))
  for (const addresses of [
    ['127.0.0.2', '127.0.0.3'],
    ['127.0.0.3', '127.0.0.2'],
  ])
    assert.is((await check(addresses, good.port))?.address, '127.0.0.3')
})

test.run()
