import * as assert from 'uvu/assert'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { createClamd } from '../../../src/pipeline/inbound/verdicts/clamd.ts'
import { createRspamd } from '../../../src/pipeline/inbound/verdicts/rspamd.ts'
import { createSpamd } from '../../../src/pipeline/inbound/verdicts/spamd.ts'
import { suite } from '../../kit/suite.ts'
import { startZone } from '../../kit/zone.ts'
import { envelope, GOOD_ZONE, letter, mailOf, textOf } from '../../unit/pipeline/inbound/verdicts/scene.ts'
import { CLAMD_STREAM_BYTES, startClamd, startRspamd, startSpamd, VIRUS, VIRUS_NAME } from './programs.ts'

const test = suite('peers/filters')
const { signal } = new AbortController()

/** String that spam filters agree to classify as spam, for tests (GTUBE). */
const GTUBE = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'
/** Filters count against a letter that it was written days ago. */
const fields = letter().fields.map(([name, value]): [string, string] => [
  name,
  name === 'Date' ? new Date().toUTCString() : value,
])
const ham = textOf(letter({ fields }))
const spam = textOf(letter({ fields, body: `${GTUBE}\r\n` }))

/** An attachment, in which the string lies encoded. */
function withAttachment(content: string): string {
  const body = [
    '--b',
    'Content-Type: text/plain',
    '',
    'See the attachment.',
    '--b',
    'Content-Type: application/octet-stream; name="invoice.bin"',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n'),
    '--b--',
    '',
  ].join('\r\n')
  const withType: [string, string][] = [
    ...fields,
    ['MIME-Version', '1.0'],
    ['Content-Type', 'multipart/mixed; boundary=b'],
  ]
  return textOf({ fields: withType, body })
}

test('clamd: clean mail, a virus in the text and in an attachment, a stream that is too long, over TCP and a socket', async t => {
  const { host, port, path } = await t.using(startClamd())
  for (const address of [{ host, port }, { path }]) {
    const clamd = createClamd(address, { clock })
    await clamd.ping(signal)
    const found = async (text: string) => {
      const { verdict, found: name } = await clamd.ask(mailOf(text, 64 * 1024), envelope())
      return [verdict, name]
    }
    assert.equal(await found(ham), ['PASS', undefined])
    assert.equal(await found(withAttachment('harmless'.repeat(1_000))), ['PASS', undefined])
    assert.equal(await found(textOf(letter({ body: `${VIRUS}\r\n` }))), ['FAIL', VIRUS_NAME])
    assert.equal(await found(withAttachment(`${'x'.repeat(50_000)}${VIRUS}`)), ['FAIL', VIRUS_NAME])
    const long = await found(`${ham}${'y'.repeat(CLAMD_STREAM_BYTES)}`).catch((error: Error) => error.message)
    assert.match(String(long), /size limit exceeded|EPIPE|ECONNRESET/)
    const many = await Promise.all(
      Array.from({ length: 20 }, (_, i) => found(i % 2 === 0 ? ham : `${ham}${VIRUS}`)),
    )
    assert.equal(
      many.map(([verdict]) => verdict),
      Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'PASS' : 'FAIL')),
    )
  }
})

test('spamd: ham, spam, and which rules say so', async t => {
  const { host, port } = await t.using(startSpamd())
  const spamd = createSpamd({ host, port }, { clock })
  await spamd.ping(signal)
  const good = await spamd.ask(mailOf(ham), envelope())
  assert.is(good.verdict, 'PASS')
  assert.is(good.threshold, 5)
  const bad = await spamd.ask(mailOf(spam, 64), envelope())
  assert.is(bad.verdict, 'FAIL')
  assert.ok(bad.score! > 900, String(bad.score))
  assert.ok(bad.rules!.includes('GTUBE'), String(bad.rules))
  const empty = await spamd.ask(mailOf('\r\n'), envelope())
  assert.ok(['PASS', 'FAIL'].includes(empty.verdict))
})

test('rspamd: ham, spam, and which rules say so', async t => {
  const zone = await t.using(
    startZone(`${GOOD_ZONE}
      here.test MX 10 out.here.test
      here.test A 192.0.2.1
      out.here.test A 192.0.2.1
      1.2.0.192.in-addr.arpa PTR out.here.test`),
  )
  const { host, port } = await t.using(startRspamd(zone.server))
  const rspamd = createRspamd(`http://${host}:${port}`, { clock })
  await rspamd.ping(signal)
  const good = await rspamd.ask(mailOf(ham), envelope())
  assert.is(good.verdict, 'PASS', JSON.stringify(good))
  assert.is(good.threshold, 15)
  const bad = await rspamd.ask(mailOf(spam, 64), envelope())
  assert.is(bad.verdict, 'FAIL', JSON.stringify(bad))
  const doubtful = await rspamd.ask(mailOf(spam.replace('XJS', 'YJS')), envelope())
  assert.is(doubtful.verdict, 'GRAY', JSON.stringify(doubtful))
  const large = await rspamd.ask(mailOf(withAttachment('harmless'.repeat(500_000)), 64 * 1024), envelope())
  assert.is(large.verdict, 'PASS', JSON.stringify(large))
})

test.run()
