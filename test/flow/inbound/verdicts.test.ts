import * as assert from 'uvu/assert'
import { type Posthorn, startPosthorn } from '../../kit/posthorn.ts'
import { sendMail } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { keyLine, type Letter, letter, rsa, textOf, withSignature } from '../../unit/verdicts/scene.ts'
import { startFilter, whenStreamed, whenWhole } from '../../unit/verdicts/scripted-filters.ts'

const test = suite('verdicts on received mail', { limitMs: 15_000 })

interface Judged {
  spf_verdict: string
  dkim_verdict: string
  dmarc_verdict: string
  spam_verdict: string
  virus_verdict: string
  verdict_detail: string
  authentication_results: string
}

async function start(t: TestContext, env: Record<string, string> = {}): Promise<Posthorn> {
  const posthorn = await t.using(startPosthorn({ env }))
  await posthorn.verifiedDomain('here.example')
  posthorn.zone.add(`
    here.test        TXT "v=spf1 ip4:127.0.0.1 -all"
    _dmarc.here.test TXT "v=DMARC1; p=reject"
    ${keyLine(rsa)}
  `)
  return posthorn
}

/** What is thought of the letter, once it is listed. */
async function judged(posthorn: Posthorn, of: Letter, from = 'ann@here.test'): Promise<Judged> {
  const { length } = posthorn.rows('select 1 from inbound_messages where listed_at is not null')
  const data = textOf(of).replaceAll('\r\n', '\n').replace(/\n$/, '')
  assert.match(await sendMail(posthorn.app.inboundAddress!, { from, to: 'bob@here.example', data }), /^250 /)
  return until(() => {
    const rows = posthorn.rows<Judged>(
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

test('mail that proves where it comes from passes, forged mail fails, and what they rest on is kept', async t => {
  const posthorn = await start(t)
  const good = await judged(posthorn, withSignature(letter()))
  assert.equal(words(good), ['PASS', 'PASS', 'PASS', 'PASS', 'DISABLED'])
  assert.match(
    good.authentication_results,
    /^posthorn\.test;\r\n spf=pass smtp\.mailfrom=here\.test;\r\n dkim=pass /,
  )
  const forged = await judged(posthorn, letter(), 'eve@evil.test')
  assert.equal(words(forged), ['GRAY', 'GRAY', 'FAIL', 'FAIL', 'DISABLED'])
  const { dmarc, spam } = JSON.parse(forged.verdict_detail)
  assert.equal(
    [dmarc.result, dmarc.policy, spam.by, spam.rules],
    ['fail', 'reject', 'authentication', ['DMARC_FAIL_REJECT', 'NO_PROOF']],
  )
})

test('filters that are configured are asked; where one is gone, mail is listed without its word', async t => {
  const clamd = await startFilter(t, whenStreamed('stream: Some.Virus FOUND\0'))
  const spamd = await startFilter(t, whenWhole('SPAMD/1.1 0 EX_OK\r\nSpam: True ; 9 / 5.0\r\n\r\nBAD\r\n'))
  const at = ({ address }: typeof clamd) => `127.0.0.1:${(address as { port: number }).port}`
  const posthorn = await start(t, { POSTHORN_VIRUS_CLAMD: at(clamd), POSTHORN_SPAM_SPAMD: at(spamd) })
  const found = await judged(posthorn, withSignature(letter()))
  assert.equal(words(found), ['PASS', 'PASS', 'PASS', 'FAIL', 'FAIL'])
  assert.is(JSON.parse(found.verdict_detail).virus.found, 'Some.Virus')
  assert.match(spamd.heard().toString(), /DKIM-Signature: .*Hello Bob/s)
  await clamd.close()
  const without = await judged(posthorn, withSignature(letter()))
  assert.equal(words(without), ['PASS', 'PASS', 'PASS', 'FAIL', 'PROCESSING_FAILED'])
  assert.match(JSON.parse(without.verdict_detail).virus.reason, /^clamd: .*ECONNREFUSED/)
})

test.run()
