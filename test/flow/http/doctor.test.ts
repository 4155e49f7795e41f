import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Posthorn, startPosthorn } from '../../kit/posthorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('doctor')
const ZONE = `
  big.test MX 10 mx.big.test
  mx.big.test A 127.0.0.2
  1.113.0.203.in-addr.arpa PTR posthorn.test
  1.113.0.203.bl.test A 127.0.0.2
`
let mx: FakeMx
let posthorn: Posthorn
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  posthorn = await startPosthorn({
    zone: ZONE,
    mxPort: mx.port,
    env: {
      POSTHORN_DNS_ADDRESSES: '203.0.113.1',
      POSTHORN_SMTP_INBOUND_LISTEN: '',
      POSTHORN_DOCTOR_PROBES: 'big.test',
      POSTHORN_DOCTOR_BLOCKLISTS: 'bl.test,other.test',
    },
  })
})
test.after(async () => {
  await posthorn.close()
  await mx.close()
})

test('the operator sees what is good and what is not, each with what to do', async () => {
  const { status, body } = await posthorn.call('GET', '/doctor', { session: await posthorn.signIn() })
  assert.equal([status, body.object, body.status], [200, 'doctor', 'failed'])
  const of = (check: string) =>
    body.findings
      .filter((finding: { check: string }) => finding.check === check)
      .map((finding: { status: string; subject: string | null }) => `${finding.subject} ${finding.status}`)
  assert.equal(of('outbound_port'), ['null ok'])
  assert.equal(of('reverse_name'), ['203.0.113.1 ok'])
  assert.equal(of('blocklist'), ['203.0.113.1 bl.test failed', '203.0.113.1 other.test ok'])
  assert.equal(of('zone_delegation'), ['posthorn.test warning'])
  assert.is(of('disk_sync').length, 1)
  for (const finding of body.findings)
    if (['warning', 'failed'].includes(finding.status)) assert.ok(finding.advice.length > 0, finding.message)
})

test('nobody else does', async () => {
  const { session } = addAccount(posthorn, 'Other')
  const { status, body } = await posthorn.call('GET', '/doctor', { session })
  assert.equal([status, body.name], [403, 'invalid_access'])
})

test.run()
