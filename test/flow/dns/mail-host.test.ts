/** Domains whose records still name the former `mail_host`, as docs/mail-host.md describes them. */
import * as assert from 'uvu/assert'
import { type DnsRecordView, startMailhorn, zoneText } from '../../kit/mailhorn.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('dns/change of mail_host')
const FORMER = 'mail.former.example'
const HOST = 'mail.new.example'

/** Verifies a domain under the former name, and restarts the service with the new one. */
async function renamed(dataDir: string) {
  const env = { MAILHORN_DNS_ADDRESSES: '127.0.0.1', MAILHORN_ADMIN_EMAIL: 'admin@mailhorn.test' }
  const first = await startMailhorn({ dns: true, dataDir, env: { ...env, MAILHORN_MAIL_HOST: FORMER } })
  const { id, records } = await first.verifiedDomain('customer.example')
  await first.close()
  const mailhorn = await startMailhorn({ dns: true, dataDir, env: { ...env, MAILHORN_MAIL_HOST: HOST } })
  mailhorn.zone.add(zoneText(records))
  const session = await mailhorn.signIn()
  const check = async () => (await mailhorn.call('POST', `/domains/${id}/verify`, { session })).body
  return { mailhorn, records: records as DnsRecordView[], check }
}

test('domains fail temporarily when nobody serves the former zone any more', async t => {
  const { path } = await t.using(tempFolder())
  const { mailhorn, check } = await renamed(path)
  await t.using(mailhorn)
  assert.is((await check()).status, 'temporary_failure')
})

test('domains stay verified while the names of the former zone are aliases of the new ones', async t => {
  const { path } = await t.using(tempFolder())
  const { mailhorn, records, check } = await renamed(path)
  await t.using(mailhorn)
  const keys = records.filter(({ type }) => type === 'CNAME')
  assert.is(keys.length, 3)
  mailhorn.zone.add(
    [
      // what a resolver makes of: dkim.mail.former.example. DNAME dkim.mail.new.example.
      ...keys.map(({ value }) => `${value} CNAME ${value.replace(FORMER, HOST)}`),
      `${FORMER} TXT "v=spf1 include:${HOST} -all"`,
      `feedback-smtp.us-west-2.${FORMER} A 127.0.0.1`,
    ].join('\n'),
  )
  const domain = await check()
  assert.is(domain.status, 'verified')
  assert.is(domain.checks.dkim.status, 'verified')
  assert.is.not(domain.checks.spf.status, 'verified')
  assert.is.not(domain.checks.mx.status, 'verified')
})

test.run()
