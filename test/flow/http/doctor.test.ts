import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('doctor')
const ZONE = `
  big.test MX 10 mx.big.test
  mx.big.test A 127.0.0.2
  1.113.0.203.in-addr.arpa PTR mailhorn.test
  1.113.0.203.bl.test A 127.0.0.2
  2.0.0.127.bl.test A 127.0.0.2
  2.0.0.127.other.test A 127.0.0.2
`
let mx: FakeMx
let mailhorn: Mailhorn
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({
    dns: true,
    zone: ZONE,
    mxPort: mx.port,
    env: {
      MAILHORN_DNS_ADDRESSES: '203.0.113.1',
      // an address behind NAT, which has no reverse name: the public one is examined
      MAILHORN_DELIVERY_SOURCE_IPS: '127.0.0.1',
      MAILHORN_SMTP_INBOUND_LISTEN: '',
      MAILHORN_DOCTOR_PROBES: 'big.test',
      MAILHORN_DOCTOR_BLOCKLISTS: 'bl.test,other.test,gone.test',
    },
  })
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

test('the operator sees what is good and what is not, each with what to do', async () => {
  const { status, body } = await mailhorn.call('GET', '/doctor', { session: await mailhorn.signIn() })
  assert.equal([status, body.object, body.status], [200, 'doctor', 'failed'])
  const of = (check: string) =>
    body.findings
      .filter((finding: { check: string }) => finding.check === check)
      .map((finding: { status: string; subject: string | null }) => `${finding.subject} ${finding.status}`)
  assert.equal(of('service'), [`${mailhorn.dataDir} ok`])
  assert.equal(of('outbound_port'), ['null ok'])
  assert.equal(of('reverse_name'), ['203.0.113.1 ok'])
  assert.equal(of('blocklist'), [
    '203.0.113.1 bl.test failed',
    '203.0.113.1 other.test ok',
    '203.0.113.1 gone.test unknown',
  ])
  assert.equal(of('zone_delegation'), ['mailhorn.test warning'])
  assert.is(of('disk_sync').length, 1)
  for (const finding of body.findings)
    if (['warning', 'failed'].includes(finding.status)) assert.ok(finding.advice.length > 0, finding.message)
})

test('nobody else does', async () => {
  const { session } = addAccount(mailhorn, 'Other')
  const { status, body } = await mailhorn.call('GET', '/doctor', { session })
  assert.equal([status, body.name], [403, 'invalid_access'])
})

test.run()
