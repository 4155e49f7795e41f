/** Defines the tests that every receiving server runs. */
import * as assert from 'uvu/assert'
import type { Suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { readers } from '../../unit/protocols/mime/readers.ts'
import { LISTENERS, type ListenerName, type Receiver, type ReceiverOptions } from './receiver.ts'
import {
  dkimpyVerdicts,
  openScene,
  type Scene,
  TWO_SIZES,
  verdicts,
  WITH_CHANGING_POLICY,
  WITH_POLICY,
} from './scene.ts'

export interface Traits {
  start(options: ReceiverOptions): Promise<Receiver>
  /** Listeners that it cannot be configured to have. */
  without: readonly ListenerName[]
  /** False where STARTTLS is offered and every handshake breaks off. */
  tls: boolean
  smtpUtf8: boolean
  /** Log line of a message with BODY=8BITMIME; absent if it does not log this. */
  eightBit?: RegExp
  /** Reply to RCPT for an unknown user. */
  unknownUser: RegExp
  /** Trace fields of a message received in plain text, and over TLS. */
  traces: readonly [plain: RegExp, secured: RegExp]
  /** Log line about a client that violates the protocol. */
  complaint: RegExp
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into it
type Json = any
const LONG = 'long '.repeat(400)
/** Three in a row are enough, if the machine is not too busy to tell. */
const ODD_TEXT = [
  'Grüße 😀,',
  '.',
  '..leading dots',
  '.QUIT',
  'From the start',
  LONG,
  'x'.repeat(1_200),
  'trailing blank ',
  '\tend',
].join('\n')

export function describeReceiver(test: Suite, traits: Traits) {
  const scene = { current: undefined as Scene | undefined }
  const open = () => scene.current!
  test.before(async () => {
    const listeners = LISTENERS.filter(listener => !traits.without.includes(listener.name as ListenerName))
    scene.current = await openScene(traits.start, listeners)
  })
  test.after(() => scene.current?.close())
  describeMessages(test, open, traits)
  if (traits.tls) {
    describeTls(test, open, traits)
    describePolicies(test, open)
  } else describeBrokenTls(test, open, traits)
  describeRefusals(test, open, traits)
  test('it complained about nothing we did', () => {
    const lines = open().receiver.log().split('\n')
    assert.equal(
      lines.filter(line => traits.complaint.test(line)),
      [],
    )
  })
}

function describeMessages(test: Suite, open: () => Scene, traits: Traits) {
  const [plain, secured] = traits.traces
  const traceOf = (domain: string) => (traits.tls && domain === 'good.test' ? secured : plain)
  for (const [domain, how] of [
    ['good.test', 'as well as can be'],
    ['plain.test', 'in plain text'],
    ['stuffed.test', 'without CHUNKING'],
    ['simple.test', 'without CHUNKING and PIPELINING'],
  ] as const)
    test(`${how}, what arrives is byte for byte what left, and verifies`, async () => {
      const { receiver, mailhorn, send, raw } = open()
      const picture = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7919 + i ** 2) % 256))
      const id = await send(`ann@${domain}`, {
        subject: `Ünïcode ${how} ${LONG.slice(0, 200)}`,
        text: ODD_TEXT,
        html: `<p>a\rb</p>\n.\n<p>${ODD_TEXT}</p>`,
        headers: { 'X-Entity-Ref-ID': how },
        attachments: [{ filename: 'ä.png', content: picture.toString('base64') }],
      })
      await mailhorn.emailWhen(id, 'delivered')
      const message = await receiver.received('ann', `X-Entity-Ref-ID: ${how}\r\n`)
      const sent = await raw(id)
      assert.ok(message.subarray(-sent.length).equals(sent), 'every byte')
      const trace = message.subarray(0, -sent.length).toString('latin1')
      assert.match(trace, traceOf(domain))
      assert.equal(await verdicts(open(), message), [
        'spf pass',
        'dkim pass here.example',
        'dkim pass here.example',
      ])
      for (const [reader, read] of readers) {
        const { text, html, attachments } = await read(message)
        assert.is(text?.trimEnd(), ODD_TEXT, reader)
        assert.match(html?.replace(/\r/g, '\n') ?? '', /<p>a\nb<\/p>\n\.\n<p>Grüße/)
        assert.ok(attachments[0]!.content.equals(picture))
      }
    })

  test('dkimpy agrees', async t => {
    const { receiver, send } = open()
    await send('bob@good.test', { subject: 'For dkimpy', html: '<p>Hello</p>' })
    const message = await receiver.received('bob', 'Subject: For dkimpy')
    assert.equal(await dkimpyVerdicts(t, open(), message), ['pass', 'pass'])
  })

  for (const domain of ['good.test', 'stuffed.test'])
    test(`sixty messages at once to ${domain} all arrive, once`, async () => {
      const { receiver, mailhorn, send } = open()
      const numbers = Array.from({ length: 60 }, (_, i) => i)
      const ids = await Promise.all(
        numbers.map(i => send(`bob@${domain}`, { subject: `Many ${i} to ${domain}.` })),
      )
      const isWaiting = async (id: string) => {
        const email = await until(async () => {
          const { status, recipients } = await mailhorn.email(id)
          const [{ next_attempt_at: next }] = recipients
          const isSet = status === 'delivered' || (next && Date.parse(next) > mailhorn.clock.now())
          return isSet ? { status } : undefined
        })
        return email.status !== 'delivered'
      }
      // more at once than some take
      while ((await Promise.all(ids.map(isWaiting))).includes(true)) mailhorn.clock.advance(600_000)
      for (const i of numbers) await receiver.received('bob', `Subject: Many ${i} to ${domain}.`)
      const arrived = receiver.mail('bob').filter(message => message.includes(` to ${domain}.`))
      assert.is(arrived.length, 60)
    })

  test('two megabytes arrive byte by byte', async () => {
    const { receiver, send, raw, mailhorn } = open()
    const content = Buffer.from(Uint8Array.from({ length: 1_500_000 }, (_, i) => (i * i + i) % 251))
    const attachments = [{ filename: 'large.bin', content: content.toString('base64') }]
    const id = await send('ann@good.test', { subject: 'Large', attachments })
    await mailhorn.emailWhen(id, 'delivered')
    const message = await receiver.received('ann', 'Subject: Large')
    const sent = await raw(id)
    assert.ok(message.subarray(-sent.length).equals(sent))
  })

  test(`an address beyond ASCII ${traits.smtpUtf8 ? 'gets its mail' : 'bounces, and is not blamed'}`, async () => {
    const { receiver, mailhorn, send } = open()
    const id = await send('jörg@plain.test', { subject: 'Für Jörg' })
    if (traits.smtpUtf8) {
      await mailhorn.emailWhen(id, 'delivered')
      const message = await receiver.received('jörg', 'Message-ID')
      assert.match(message.toString('utf8'), /^To: jörg@plain\.test\r$/m)
      assert.match(message.toString('utf8'), / with utf8e?smtp /i)
      if (traits.eightBit) assert.match(receiver.log(), traits.eightBit)
      assert.equal((await verdicts(open(), message)).slice(1), [
        'dkim pass here.example',
        'dkim pass here.example',
      ])
      return
    }
    const email = await mailhorn.emailWhen(id, 'bounced')
    assert.match(email.error, /^553 5\.6\.7 /)
    assert.equal(mailhorn.rows(`select email from suppressions where email like 'j%'`), [])
  })
}

function describeTls(test: Suite, open: () => Scene, traits: Traits) {
  const [plain, secured] = traits.traces
  const strictly = { from: 'Ann <ann@strict.example>' }

  for (const [domain, verified, reason] of [
    ['good.test', true, null],
    ['self-signed.test', false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['expired.test', false, 'CERT_HAS_EXPIRED'],
    ['wrong-name.test', false, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ] as const) {
    test(`${domain}: mail of any domain goes over TLS, whatever the certificate`, async () => {
      const { receiver, mailhorn, send, attemptAt } = open()
      const id = await send(`ann@${domain}`, { subject: `Any ${domain}` })
      await mailhorn.emailWhen(id, 'delivered')
      const [{ tls, policy, tls_fallback }] = (await attemptAt(id)).hosts
      assert.equal([tls.verified, tls.reason, policy, tls_fallback], [verified, reason, 'none', null])
      assert.match(tls.version, /^TLSv1\.[23]$/)
      assert.match((await receiver.received('ann', `Subject: Any ${domain}`)).toString('latin1'), secured)
    })

    test(`${domain}: mail of a domain that enforces TLS ${verified ? 'goes, too' : 'waits'}`, async () => {
      const { receiver, send, attemptAt } = open()
      const id = await send(`ann@${domain}`, { ...strictly, subject: `Strict ${domain}` })
      const { outcome, hosts, reply } = await attemptAt(id)
      assert.equal([outcome, hosts[0].policy], [verified ? 'delivered' : 'deferred', 'domain'])
      if (verified) return void (await receiver.received('ann', `Subject: Strict ${domain}`))
      assert.match(
        reply,
        /self-signed certificate|certificate has expired|does not match certificate's altnames/,
      )
      assert.not.ok(receiver.mail('ann').some(message => message.includes(`Subject: Strict ${domain}`)))
    })
  }

  test('plain.test: mail of a domain that enforces TLS waits', async () => {
    const { send, attemptAt } = open()
    const { outcome, reply } = await attemptAt(await send('ann@plain.test', strictly))
    assert.is(outcome, 'deferred')
    assert.match(reply, /does not offer STARTTLS/)
  })

  if (traits.without.includes('old')) return

  test('a host that knows TLS up to 1.1 gets mail of any domain in plain text, and that is told', async () => {
    const { receiver, mailhorn, send, attemptAt } = open()
    const id = await send('ann@old.test', { subject: 'Old' })
    await mailhorn.emailWhen(id, 'delivered')
    const [{ tls, tls_fallback }] = (await attemptAt(id)).hosts
    assert.is(tls, null)
    assert.match(tls_fallback, /alert|protocol|version/i)
    assert.match((await receiver.received('ann', 'Subject: Old')).toString('latin1'), plain)
  })

  test('and none of a domain that enforces TLS', async () => {
    const { send, attemptAt } = open()
    const { outcome, hosts } = await attemptAt(await send('bob@old.test', strictly))
    assert.equal([outcome, hosts[0].tls, hosts[0].phase], ['deferred', null, 'tls'])
  })
}

function describeBrokenTls(test: Suite, open: () => Scene, traits: Traits) {
  test('where STARTTLS is offered and fails, mail of any domain goes in plain text, and that is told', async () => {
    const { receiver, mailhorn, send, attemptAt } = open()
    const id = await send('ann@good.test', { subject: 'Broken' })
    await mailhorn.emailWhen(id, 'delivered')
    const [{ tls, tls_fallback }] = (await attemptAt(id)).hosts
    assert.is(tls, null)
    assert.ok(tls_fallback)
    assert.match((await receiver.received('ann', 'Subject: Broken')).toString('latin1'), traits.traces[0])
  })

  test('and none where TLS is a must, be it by the sender or by MTA-STS', async () => {
    const { send, attemptAt, mailhorn } = open()
    const strictly = await attemptAt(await send('ann@good.test', { from: 'Ann <ann@strict.example>' }))
    assert.equal([strictly.outcome, strictly.hosts[0].phase], ['deferred', 'tls'])
    const byPolicy = await attemptAt(await send(`ann@${WITH_POLICY}`))
    assert.equal([byPolicy.outcome, byPolicy.hosts[0].policy], ['deferred', 'mta-sts'])
    mailhorn.clock.advance(61_000)
    const counted = await until(() => {
      const rows = mailhorn.rows(
        `select distinct result from tls_results where domain in ('good.test', '${WITH_POLICY}')`,
      )
      return rows.length > 0 && rows
    })
    assert.equal(counted, [{ result: 'validation-failure' }])
  })
}

function describePolicies(test: Suite, open: () => Scene) {
  test('MTA-STS: what the policy names and can show gets the mail', async () => {
    const { mailhorn, send, attemptAt } = open()
    const id = await send(`ann@${WITH_POLICY}`)
    await mailhorn.emailWhen(id, 'delivered')
    const [{ policy, tls }] = (await attemptAt(id)).hosts
    assert.equal([policy, tls.verified], ['mta-sts', true])
  })

  test('MTA-STS: no host that the policy does not name, or that shows a certificate that has expired', async () => {
    const { send, attemptAt, changePolicy } = open()
    changePolicy('enforce', 'mx.elsewhere.test')
    const unnamed = await attemptAt(await send(`ann@${WITH_CHANGING_POLICY}`))
    assert.equal([unnamed.outcome, unnamed.hosts], ['deferred', []])
    assert.match(unnamed.reply, /expired\.there\.test is not in the MTA-STS policy of example\.test/)
    changePolicy('enforce', 'expired.there.test')
    const expired = await attemptAt(await send(`ann@${WITH_CHANGING_POLICY}`))
    assert.equal([expired.outcome, expired.hosts[0].policy], ['deferred', 'mta-sts'])
    assert.match(expired.reply, /certificate has expired/)
  })

  test('MTA-STS: a policy that is only tested holds nothing back, and its owner will be told', async () => {
    const { mailhorn, send, changePolicy } = open()
    changePolicy('testing', 'mx.elsewhere.test')
    const id = await send(`ann@${WITH_CHANGING_POLICY}`, { subject: 'Tested' })
    await mailhorn.emailWhen(id, 'delivered')
    mailhorn.clock.advance(61_000)
    const resultsOf = (domain: string) =>
      mailhorn
        .rows<{ result: string }>(`select result from tls_results where domain = '${domain}' order by result`)
        .map(({ result }) => result)
    const results = await until(() => {
      const found = resultsOf(WITH_CHANGING_POLICY)
      return found.length >= 2 && found
    })
    assert.equal(results, ['certificate-expired', 'validation-failure'])
    assert.equal(resultsOf('old.test'), ['validation-failure'])
    assert.equal(resultsOf('expired.test'), ['', 'certificate-expired'])
    assert.equal(resultsOf('wrong-name.test'), ['', 'certificate-host-mismatch'])
    assert.equal(resultsOf('self-signed.test'), ['', 'certificate-not-trusted'])
    assert.equal(resultsOf(WITH_POLICY), [''])
    assert.equal(resultsOf('good.test'), [''])
    assert.ok(resultsOf('plain.test').includes('starttls-not-supported'))
  })
}

function describeRefusals(test: Suite, open: () => Scene, traits: Traits) {
  test('known and unknown users of one message have each their own fate', async () => {
    const { receiver, mailhorn, send } = open()
    const to = ['ann@plain.test', 'missing@plain.test', 'bob@plain.test']
    const id = await send(to, { subject: 'Mixed' })
    const email = await until(async () => {
      const shown = await mailhorn.email(id)
      return shown.recipients.every(({ status }: Json) => status !== 'queued' && status !== 'sent') && shown
    })
    assert.equal(
      email.recipients.map(({ status }: Json) => status),
      ['delivered', 'bounced', 'delivered'],
    )
    assert.match(email.recipients[1].reply, traits.unknownUser, email.recipients[1].reply)
    for (const mailbox of ['ann', 'bob']) await receiver.received(mailbox, 'Subject: Mixed')
    const bounced = email.events.find(({ type }: Json) => type === 'email.bounced')
    assert.is(bounced.data.bounce.class, 'invalid-recipient')
    assert.equal(mailhorn.rows(`select email from suppressions`), [{ email: 'missing@plain.test' }])
  })

  test('a message larger than it announces bounces before a byte of it has left', async () => {
    const { mailhorn, send, attemptAt } = open()
    const attachments = [{ filename: 'big.bin', content: Buffer.alloc(3_000_000).toString('base64') }]
    const id = await send('ann@plain.test', { attachments })
    const email = await mailhorn.emailWhen(id, 'bounced')
    assert.match(email.error, /^552 5\.3\.4 message of \d+ bytes is larger than the 3000000 bytes/)
    const { hosts } = await attemptAt(id)
    assert.not.ok(hosts[0].phases.some(({ phase }: Json) => phase === 'mail'))
  })

  if (traits.without.includes('small')) return

  test('one too large for the first host goes to the second', async () => {
    const { receiver, mailhorn, send, attemptAt } = open()
    const id = await send(`ann@${TWO_SIZES}`, { subject: 'Two sizes', text: 'large '.repeat(5_000) })
    await mailhorn.emailWhen(id, 'delivered')
    const { hosts } = await attemptAt(id)
    assert.equal(
      hosts.map(({ host }: Json) => host),
      ['small.there.test', 'plain.there.test'],
    )
    await receiver.received('ann', 'Subject: Two sizes')
  })
}
