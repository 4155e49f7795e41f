import * as assert from 'uvu/assert'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { exchangeWithFilter } from '../../../src/pipeline/inbound/verdicts/exchange.ts'
import { type ArrivedMail, MAIL_HOST, SENDER_IP, type SentMails, sendEveryKind } from '../../kit/sent-mail.ts'
import { suite } from '../../kit/suite.ts'
import { type RunningFilter, startSpamd } from './programs.ts'

/** SpamAssassin with its rules of format and content, SPF and DKIM; without block lists and Bayes. */
const test = suite('peers/filters: SpamAssassin')

/** Rules that count against a mail, though nothing about its format is wrong, with the reason. */
const NOT_OF_THE_FORMAT: Record<string, string> = {
  DKIM_SIGNED: 'any signature counts 0.1, which DKIM_VALID takes back',
  HTML_MESSAGE: 'any HTML counts 0.001',
  HTML_IMAGE_ONLY_08: 'the page has an image and fewer than 800 octets of text',
  HTML_IMAGE_ONLY_12: 'the page has an image and fewer than 1200 octets of text',
  HTML_IMAGE_ONLY_20: 'the page is made of pictures, which its designer chose',
  HTML_IMAGE_RATIO_02: 'the page is made of pictures, which its designer chose',
  HTML_SHORT_LINK_IMG_3: 'the page is made of linked pictures, which its designer chose',
  T_REMOTE_IMAGE: 'opens are tracked by an image on the web, which the sender asked for',
  T_HTML_ATTACH: 'any attached page of HTML counts 0.01',
  T_DOC_ATTACH_NO_EXT: 'takes a quote inside a file name for its end, and finds no extension before it',
}
/** SPF is checked where the Debian package libmail-spf-perl is installed; DKIM comes with SpamAssassin. */
const AUTHENTIC = ['DKIM_VALID', 'DKIM_VALID_AU', 'SPF_PASS', 'SPF_HELO_PASS']
const OTHER_IP = '198.18.9.9'
const FILTER_MS = 60_000

let sent: SentMails
let spamd: RunningFilter
test.before(async () => {
  sent = await sendEveryKind()
  spamd = await startSpamd(settingsFor(sent.zone.server))
})
test.after(async () => {
  await spamd?.close()
  await sent?.close()
})

test('no mail of any kind has a rule against it, and each is signed and allowed', async () => {
  const matched = new Set<string>()
  for (const mail of [...sent.mails, ...sent.written]) {
    const scores = await judged(received(mail))
    const against = [...scores].filter(([rule, score]) => score > 0 && !(rule in NOT_OF_THE_FORMAT))
    assert.equal(against, [], mail.kind)
    for (const rule of AUTHENTIC) assert.ok(scores.has(rule), `${mail.kind}: ${[...scores.keys()]}`)
    for (const rule of scores.keys()) matched.add(rule)
  }
  const unused = Object.keys(NOT_OF_THE_FORMAT).filter(rule => !matched.has(rule))
  assert.equal(unused, [], 'exceptions that nothing needs')
})

test('what is wrong is found: a changed text, a foreign client, a broken header, HTML without a text', async () => {
  const mail = sent.mails.find(({ kind }) => kind === 'text and HTML')!
  const whole = mail.message.toString('latin1')
  for (const [what, message, ip, expected] of [
    ['text', whole.replace('three chairs', 'four chairs'), SENDER_IP, 'DKIM_INVALID'],
    ['client', whole, OTHER_IP, 'SPF_SOFTFAIL'],
    ['Date', whole.replace(/^Date: .*\r\n/m, ''), SENDER_IP, 'MISSING_DATE'],
    [
      'type',
      whole.replace(/^Content-Type: text\/plain;/m, 'Content-Type: text/html;'),
      SENDER_IP,
      'MIME_HTML_ONLY',
    ],
  ] as const) {
    const scores = await judged(received(mail, { message: Buffer.from(message, 'latin1'), ip }))
    assert.ok((scores.get(expected) ?? 0) > 0, `${what}: ${JSON.stringify([...scores])}`)
  }
})

function settingsFor(nameServer: string): string[] {
  const [host, port] = nameServer.split(':')
  return [
    `dns_server [${host}]:${port}`,
    'dns_available yes',
    'dns_query_restriction deny fmb.la dkimwl.org',
    'skip_rbl_checks 1',
    'skip_uribl_checks 1',
    'use_bayes 0',
    'clear_report_template',
    'report _TESTSSCORES(,)_',
  ]
}

/** The mail as an MX hands it to its filter, which takes the top Received field for its own. */
function received(mail: ArrivedMail, { message = mail.message, ip = SENDER_IP } = {}): Buffer {
  const [, date] = /^Date: (.*)\r$/m.exec(mail.message.toString('latin1'))!
  const fields = [
    `Return-Path: <${mail.mailFrom}>`,
    `Received: from ${MAIL_HOST} (${MAIL_HOST} [${ip}])`,
    '\tby mx.there.example (Postfix) with ESMTPS id 4Xy5tk2Bz9z1',
    `\tfor <${mail.rcptTo}>; ${date}`,
    '',
  ]
  return Buffer.concat([Buffer.from(fields.join('\r\n')), message])
}

/** Each rule that matched with its score, as the report template lists them. */
async function judged(message: Buffer): Promise<Map<string, number>> {
  const { host, port } = spamd
  const options = { address: { host, port }, clock, maxReplyBytes: 64 * 1024, limitMs: FILTER_MS }
  const reply = `${await exchangeWithFilter(requests(), options)}`
  const rules = /^SPAMD\/1\.1 0 EX_OK\r\n[\s\S]*?\r\n\r\n([\s\S]*)$/.exec(reply)?.[1]
  if (rules === undefined) throw new Error(`spamd said ${reply}\n${spamd.log()}`)
  return new Map([...rules.matchAll(/(\w+)=(-?[\d.]+)/g)].map(([, rule, score]) => [rule!, Number(score)]))

  async function* requests() {
    yield Buffer.from(`REPORT SPAMC/1.5\r\nContent-length: ${message.length}\r\n\r\n`)
    yield message
  }
}

test.run()
