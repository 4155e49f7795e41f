import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { sendMail } from '../../kit/smtp-client.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import {
  keyLine,
  type Letter,
  letter,
  rsa,
  textOf,
  withSignature,
} from '../../unit/pipeline/inbound/verdicts/scene.ts'
import {
  startFilter,
  whenStreamed,
  whenWhole,
} from '../../unit/pipeline/inbound/verdicts/scripted-filters.ts'

const test = suite('verdicts on received mail')

interface Judged {
  spf_verdict: string
  dkim_verdict: string
  dmarc_verdict: string
  spam_verdict: string
  virus_verdict: string
  verdict_detail: string
  authentication_results: string
}

const TOKEN = 'for-prometheus-alone'

let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await start()
})
test.after(() => mailhorn.close())

async function start(env: Record<string, string> = {}): Promise<Mailhorn> {
  const mailhorn = await startMailhorn({ env: { MAILHORN_METRICS_TOKEN: TOKEN, ...env } })
  await mailhorn.verifiedDomain('here.example')
  mailhorn.zone.add(`
    here.test        TXT "v=spf1 ip4:127.0.0.1 -all"
    _dmarc.here.test TXT "v=DMARC1; p=reject"
    ${keyLine(rsa)}
  `)
  return mailhorn
}

/** Sends the letter, and resolves with its verdicts once it is listed. */
async function judged(mailhorn: Mailhorn, of: Letter, from = 'ann@here.test'): Promise<Judged> {
  const { length } = mailhorn.rows('select 1 from inbound_messages where listed_at is not null')
  const data = textOf(of).replaceAll('\r\n', '\n').replace(/\n$/, '')
  assert.match(await sendMail(mailhorn.app.inboundAddress!, { from, to: 'bob@here.example', data }), /^250 /)
  return until(() => {
    const rows = mailhorn.rows<Judged>(
      `select spf_verdict, dkim_verdict, dmarc_verdict, spam_verdict, virus_verdict, verdict_detail, authentication_results
       from inbound_messages where listed_at is not null order by id desc`,
    )
    return rows.length > length ? rows[0] : undefined
  })
}

const words = (row: Judged) => [
  row.spf_verdict,
  row.dkim_verdict,
  row.dmarc_verdict,
  row.spam_verdict,
  row.virus_verdict,
]

test('mail that proves where it comes from passes, forged mail fails, and what they rest on is kept', async () => {
  const good = await judged(mailhorn, withSignature(letter()))
  assert.equal(words(good), ['PASS', 'PASS', 'PASS', 'PASS', 'DISABLED'])
  assert.match(
    good.authentication_results,
    /^mailhorn\.test;\r\n spf=pass smtp\.mailfrom=here\.test;\r\n dkim=pass /,
  )
  const forged = await judged(mailhorn, letter(), 'eve@evil.test')
  assert.equal(words(forged), ['GRAY', 'GRAY', 'FAIL', 'FAIL', 'DISABLED'])
  const { dmarc, spam } = JSON.parse(forged.verdict_detail)
  assert.equal(
    [dmarc.result, dmarc.policy, spam.by, spam.rules],
    ['fail', 'reject', 'authentication', ['DMARC_FAIL_REJECT', 'NO_PROOF']],
  )
})

test('DMARC is about the sender who is shown, and not about a From field that is not read', async () => {
  const beyond = Array.from({ length: 1_000 }, (): [string, string] => ['X', 'y'])
  const signed = withSignature(letter())
  const row = await judged(mailhorn, { ...signed, fields: [...beyond, ...signed.fields] }, 'ceo@bank.test')
  const { body } = await mailhorn.call('GET', '/inbound', { key: mailhorn.apiKey })
  assert.equal(
    [body.data[0].from, row.dkim_verdict, row.dmarc_verdict],
    ['ceo@bank.test', 'PASS', 'PROCESSING_FAILED'],
  )
})

test('what others say in our name is neither in the message nor among its headers; what they say in theirs is', async () => {
  const theirs: [string, string] = ['Authentication-Results', 'mail.other.test; dmarc=pass']
  const forged: [string, string][] = [
    ['Authentication-Results', 'mailhorn.test; dmarc=pass (forged)'],
    ['authentication-results', '=?utf-8?q?mailhorn=2Etest?=; dmarc=pass (forged)'],
  ]
  const { fields, body } = letter()
  await judged(mailhorn, { fields: [forged[0]!, theirs, ...fields, forged[1]!], body })
  const { body: list } = await mailhorn.call('GET', '/inbound', { key: mailhorn.apiKey })
  const path = `/inbound/${list.data[0].id}`
  const { body: shown } = await mailhorn.call('GET', path, { key: mailhorn.apiKey })
  assert.equal(shown.headers['authentication-results'], [theirs[1]])
  assert.equal(
    [shown.spf_verdict, shown.dkim_verdict, shown.dmarc_verdict, shown.spam_verdict, shown.virus_verdict],
    ['PASS', 'GRAY', 'PASS', 'PASS', 'DISABLED'],
  )
  assert.equal([shown.verdicts.dmarc.policy, shown.verdicts.virus.by], ['reject', 'nothing'])
  const { body: raw } = await mailhorn.call('GET', `${path}/raw`, { key: mailhorn.apiKey })
  const expected = textOf({ fields: [theirs, ...fields], body })
  const [results, trace] = raw.split(/(?=^Received: )/m)
  assert.is(
    results,
    `Return-Path: <${shown.envelope.from}>\r\nAuthentication-Results: ${shown.authentication_results}\r\n`,
  )
  assert.ok(trace.endsWith(`+0000\r\n${expected}`))
})

test('filters that are configured are asked; where one is gone, mail is listed without its word', async t => {
  const clamd = await startFilter(t, whenStreamed('stream: Some.Virus FOUND\0'))
  const spamd = await startFilter(t, whenWhole('SPAMD/1.1 0 EX_OK\r\nSpam: True ; 9 / 5.0\r\n\r\nBAD\r\n'))
  const at = ({ address }: typeof clamd) => `127.0.0.1:${(address as { port: number }).port}`
  const filtered = await t.using(start({ MAILHORN_VIRUS_CLAMD: at(clamd), MAILHORN_SPAM_SPAMD: at(spamd) }))
  const found = await judged(filtered, withSignature(letter()))
  assert.equal(words(found), ['PASS', 'PASS', 'PASS', 'FAIL', 'FAIL'])
  assert.is(JSON.parse(found.verdict_detail).virus.found, 'Some.Virus')
  assert.match(spamd.heard().toString(), /DKIM-Signature: .*Hello Bob/s)
  await clamd.close()
  const without = await judged(filtered, withSignature(letter()))
  assert.equal(words(without), ['PASS', 'PASS', 'PASS', 'FAIL', 'PROCESSING_FAILED'])
  assert.match(JSON.parse(without.verdict_detail).virus.reason, /^clamd: .*ECONNREFUSED/)
})

test('the figures of all of it are shown to whoever knows the token', async () => {
  const ask = (key?: string) => mailhorn.call('GET', '/metrics', key === undefined ? {} : { key })
  for (const key of [undefined, mailhorn.apiKey, `${TOKEN}s`, TOKEN.slice(1)]) {
    const { status, body } = await ask(key)
    assert.equal([status, body.name], [401, 'invalid_access'])
  }
  await judged(mailhorn, letter({}))
  const { status, headers, body: text } = await ask(TOKEN)
  assert.equal([status, headers.get('content-type')], [200, 'text/plain; version=0.0.4; charset=utf-8'])
  assert.match(text, /^mailhorn_smtp_taken_total\{listener="inbound"\} [1-9]/m)
  assert.match(text, /^mailhorn_inbound_listed_total [1-9]/m)
  assert.match(text, /^mailhorn_inbound_verdicts_total\{check="spf",verdict="[A-Z]+"\} [1-9]/m)
  assert.match(text, /^process_resident_memory_bytes \d/m)
})

test.run()
