import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import * as assert from 'uvu/assert'
import { type ArrivedMail, MAIL_HOST, SENDER_IP, type SentMails, sendEveryKind } from '../../kit/sent-mail.ts'
import { suite } from '../../kit/suite.ts'
import { type RunningFilter, startRspamd } from './programs.ts'

/** rspamd with its rules of headers, content, SPF, DKIM and DMARC; without block lists, Redis and Bayes. */
const test = suite('peers/filters: rspamd judges sent mail')

/** Rules that count against a mail, though nothing about its format is wrong, with the reason. */
const NOT_OF_THE_FORMAT: Record<string, string> = {
  FORGED_SENDER: 'the return path is a VERP address at a domain of its own, which DMARC aligns',
  MIME_BASE64_TEXT: 'any text in base64 counts 0.1, and text beyond ASCII needs an encoding',
  MIME_BASE64_TEXT_BOGUS: 'an attached text is sent in base64, which guards its octets',
  URI_COUNT_ODD: 'counts the same URL in both parts once, and takes an odd number for a missing one',
  R_PARTS_DIFFER: 'the page is made of pictures, and its text consists of their descriptions',
  R_MIXED_CHARSET: 'the sender writes in two scripts',
  LONG_SUBJ: 'the sender writes a long subject',
  SUBJECT_ENDS_QUESTION: 'the sender asks in the subject',
}
/** The clock of the scene is a day ahead when it sends the report, and so are its Date and its signature. */
const OF_THE_CLOCK: Record<string, readonly string[]> = {
  'a TLS report': ['DATE_IN_FUTURE', 'DMARC_POLICY_REJECT'],
}
const AUTHENTIC = ['R_DKIM_ALLOW', 'R_SPF_ALLOW', 'DMARC_POLICY_ALLOW']

let sent: SentMails
let rspamd: RunningFilter
test.before(async () => {
  sent = await sendEveryKind()
  rspamd = await startRspamd(sent.zone.server, 10)
})
test.after(async () => {
  await rspamd?.close()
  await sent?.close()
})

test('no mail of any kind has a rule against it, and each is signed and allowed', async () => {
  const matched = new Set<string>()
  for (const mail of [...sent.mails, ...sent.written]) {
    const scores = await judged(mail)
    const excused = OF_THE_CLOCK[mail.kind] ?? []
    const against = [...scores].filter(([, score]) => score > 0).map(([rule]) => rule)
    assert.equal(
      against.filter(rule => !(rule in NOT_OF_THE_FORMAT) && !excused.includes(rule)),
      [],
      mail.kind,
    )
    if (excused.length === 0)
      for (const rule of AUTHENTIC) assert.ok(scores.has(rule), `${mail.kind}: ${rule}`)
    for (const rule of against) matched.add(rule)
  }
  const unused = Object.keys(NOT_OF_THE_FORMAT).filter(rule => !matched.has(rule))
  assert.equal(unused, [], 'exceptions that nothing needs')
})

test('what is wrong is found: a changed text, a foreign client, a missing Date', async () => {
  const mail = sent.mails.find(({ kind }) => kind === 'text and HTML')!
  const whole = mail.message.toString('latin1')
  for (const [message, ip, expected] of [
    [whole.replace('three chairs', 'four chairs'), SENDER_IP, 'R_DKIM_REJECT'],
    [whole, '198.18.9.9', 'R_SPF_SOFTFAIL'],
    [whole.replace(/^Date: .*\r\n/m, ''), SENDER_IP, 'MISSING_DATE'],
  ] as const) {
    const scores = await judged({ ...mail, message: Buffer.from(message, 'latin1') }, ip)
    assert.ok(scores.has(expected), `${expected}: ${[...scores.keys()]}`)
  }
})

/** Asks as an MX does, which names the client and the envelope. @returns the score of each rule */
async function judged(mail: ArrivedMail, ip = SENDER_IP): Promise<Map<string, number>> {
  const { host, port } = rspamd
  const envelope = { IP: ip, Helo: MAIL_HOST, Hostname: MAIL_HOST, From: mail.mailFrom, Rcpt: mail.rcptTo }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = request({ host, port, path: '/checkv2', method: 'POST', headers: envelope }, resolve)
    asked.on('error', reject).end(mail.message)
  })
  const { symbols } = (await json(response)) as { symbols: Record<string, { score: number }> }
  return new Map(Object.entries(symbols).map(([rule, { score }]) => [rule, score]))
}

test.run()
