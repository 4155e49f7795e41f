import PostalMime from 'postal-mime'
import * as assert from 'uvu/assert'
import { createAlertRelay } from '../../../../src/pipeline/alerts/relay.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import { type FakeMxOptions, startFakeMx } from '../../../kit/fake-mx.ts'
import { mailbox } from '../../../kit/mail.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { testAuthority } from '../../../kit/tls.ts'
import { startZone } from '../../../kit/zone.ts'

const test = suite('alerts/relay')
const login = { user: 'ops', password: 'open sésame' }
const MAIL = {
  to: mailbox('root@ops.example'),
  subject: 'Mailhorn needs attention: der Datenträger ist voll',
  text: 'No space is left.\n',
  messageId: '<abc@provider.example>',
}

interface Changes {
  peer?: FakeMxOptions
  tls?: 'implicit' | 'required' | 'opportunistic'
  password?: string
  host?: string
}

/** A relay of alerts to a smart host that wants TLS and a login. */
async function open(
  t: TestContext,
  { peer, tls = 'required', password = login.password, host }: Changes = {},
) {
  const zone = await t.using(startZone('relay.there.test A 127.0.0.2'))
  const smartHost = await t.using(startFakeMx({ host: '127.0.0.2', tls: 'good', login, ...peer }))
  const clock = createManualClock(Date.UTC(2026, 10, 29))
  const resolver = createResolver({ servers: [zone.server], clock })
  t.after(resolver.close)
  const relay = createAlertRelay({
    smartHost: {
      ...{ host: host ?? 'relay.there.test', port: smartHost.port, tls },
      login: tls === 'opportunistic' ? null : { ...login, password },
    },
    from: mailbox('alerts@provider.example'),
    localName: 'mail.provider.example',
    authorities: [testAuthority()],
    ...{ resolver, clock, random: () => 0.5 },
  })
  return { smartHost, relay }
}

for (const [what, peer, tls] of [
  ['STARTTLS', {}, 'required'],
  ['implicit TLS', { implicitTls: true }, 'implicit'],
] as const)
  test(`relay: by ${what} and a login, an operator gets the mail`, async t => {
    const { smartHost, relay } = await open(t, { peer, tls })
    const { isTaken, answer } = await relay.send(MAIL)
    assert.ok(isTaken, answer)
    assert.match(answer, /^250 /)
    const [taken] = smartHost.messages
    assert.equal(
      [taken!.mailFrom, taken!.rcptTo, taken!.tls],
      ['alerts@provider.example', ['root@ops.example'], true],
    )
    const { from, to, subject, text, messageId } = await PostalMime.parse(taken!.data)
    assert.equal(
      [from?.address, to?.[0]?.address, subject, messageId],
      [...['alerts@provider.example', 'root@ops.example', MAIL.subject, MAIL.messageId]],
    )
    assert.is(text?.trim(), 'No space is left.')
    assert.match(taken!.headers, /^Auto-Submitted: auto-generated/m)
    assert.equal(smartHost.violations, [])
  })

for (const [what, changes, says] of [
  ['refuses the login', { password: 'wrong' }, /535/],
  ['has the certificate of another', { peer: { tls: 'wrong-name' } }, /127\.0\.0\.2.*(?:name|certificate)/i],
  ['offers no TLS', { peer: { tls: 'off' } }, /does not offer STARTTLS/],
  ['refuses the recipient', { peer: { at: { rcpt: '550 5.1.1 nobody here' } } }, /^550 5\.1\.1 nobody/],
  ['has no address', { host: 'none.there.test' }, /none\.there\.test/],
] as const)
  test(`relay: the answer says why a smart host takes nothing that ${what}`, async t => {
    const { smartHost, relay } = await open(t, changes as Changes)
    const { isTaken, answer } = await relay.send(MAIL)
    assert.is(isTaken, false)
    assert.match(answer, says)
    assert.not.match(answer, 'sésame')
    assert.equal(smartHost.messages, [])
  })

test.run()
