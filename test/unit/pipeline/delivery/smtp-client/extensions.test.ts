import * as assert from 'uvu/assert'
import { limitsOf, NO_LIMITS } from '../../../../../src/pipeline/delivery/smtp-client/limits.ts'
import { startFakeMx } from '../../../../kit/fake-mx.ts'
import { suite } from '../../../../kit/suite.ts'
import { dial, mailTo, short } from './dial.ts'

const test = suite('SMTP client extensions')
const envelopeId = () => 'eml_01+x=y'

test('DSN: reports on failures are requested with headers only, under our id', async t => {
  const mx = await t.using(startFakeMx({ extensions: ['DSN'] }))
  const session = await dial(t, mx)
  await session.send(mailTo(['ok', 'ok+tag'], { envelopeId }))
  const [{ params, rcptParams }] = mx.messages as [(typeof mx.messages)[0]]
  assert.equal(
    [...params],
    [
      ['RET', 'HDRS'],
      ['ENVID', 'eml_01+2Bx+3Dy'],
    ],
  )
  assert.equal(
    [...rcptParams[1]!],
    [
      ['NOTIFY', 'FAILURE,DELAY'],
      ['ORCPT', 'rfc822;ok+2Btag@there.test'],
    ],
  )
  assert.equal(mx.violations, [])
})

for (const [what, extensions, over] of [
  ['a peer without DSN', ['8BITMIME'], { envelopeId }],
  ['the null sender', ['DSN'], { envelopeId, mailFrom: '' }],
  ['a message without an id', ['DSN'], {}],
] as const)
  test(`${what}: no word of reports`, async t => {
    const mx = await t.using(startFakeMx({ extensions: [...extensions] }))
    const session = await dial(t, mx)
    assert.equal(short(await session.send(mailTo('ok', over))), ['accepted 250'])
    assert.is(mx.messages[0]!.params.size, 0)
    assert.is(mx.messages[0]!.rcptParams[0]!.size, 0)
  })

test('DSN: an address outside ASCII is sent without ORCPT', async t => {
  const mx = await t.using(startFakeMx({ extensions: ['DSN', 'SMTPUTF8', '8BITMIME'] }))
  const session = await dial(t, mx)
  await session.send(mailTo('jürgen', { smtpUtf8: true, envelopeId }))
  assert.equal([...mx.messages[0]!.rcptParams[0]!], [['NOTIFY', 'FAILURE,DELAY']])
})

test('REQUIRETLS is declared if offered; otherwise the message is refused locally', async t => {
  const willing = await t.using(startFakeMx({ extensions: ['REQUIRETLS'] }))
  const unable = await t.using(startFakeMx())
  assert.equal(short(await (await dial(t, willing)).send(mailTo('ok', { requireTls: true }))), [
    'accepted 250',
  ])
  assert.ok(willing.messages[0]!.params.has('REQUIRETLS'))
  const refused = await (await dial(t, unable)).send(mailTo('ok', { requireTls: true }))
  assert.equal(short(refused), ['refused locally mail 550 5.7.30'])
  assert.is(unable.messages.length, 0)
})

test('recipients beyond RCPTMAX are deferred', async t => {
  const mx = await t.using(startFakeMx({ extensions: ['LIMITS RCPTMAX=2'] }))
  const session = await dial(t, mx)
  const result = await session.send(mailTo(['ok', 'perm-550-511', 'ok3']))
  assert.equal(short(result), ['accepted 250', 'refused rcpt 550 5.1.1', 'refused locally rcpt 452 4.5.3'])
  assert.equal(mx.messages[0]!.rcptTo, ['ok@there.test'])
})

for (const [parameter, limits] of [
  [undefined, {}],
  ['', {}],
  ['MAILMAX=3 RCPTMAX=50 RCPTDOMAINMAX=1', { mails: 3, recipients: 50, domains: 1 }],
  ['mailmax=7', { mails: 7 }],
  ['MAILMAX=0 RCPTMAX=-1 RCPTDOMAINMAX=x', {}],
  ['RCPTMAX=1234567', {}],
  ['__proto__=5 OTHER=9 RCPTMAX=4', { recipients: 4 }],
] as const)
  test(`LIMITS ${parameter}`, () => {
    assert.equal(limitsOf(parameter), { ...NO_LIMITS, ...limits })
  })

test.run()
