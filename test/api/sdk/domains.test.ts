import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { addAccount, openSession } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertTold, requireData } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('resend: domains')
let mailhorn: Mailhorn
let resend: Resend
test.before(async () => {
  mailhorn = await startMailhorn()
  resend = new Resend(openSession(mailhorn, 'bearer'), { baseUrl: mailhorn.baseUrl })
})
test.after(() => mailhorn.close())

test('domains.create and update: capabilities are honoured and shown', async () => {
  const { domains } = resend
  const made = requireData(
    await domains.create({
      ...{ name: 'sdk.example', customReturnPath: 'send', tls: 'enforced', clickTracking: true },
      capabilities: { receiving: 'disabled' },
    }),
  )
  assert.equal(
    [made.capabilities, made.click_tracking],
    [{ sending: 'enabled', receiving: 'disabled' }, true],
  )
  const { id } = made
  requireData(await domains.update({ id, capabilities: { receiving: 'enabled', sending: 'disabled' } }))
  const expected = { sending: 'disabled', receiving: 'enabled' }
  assert.equal(requireData(await domains.get(id)).capabilities, expected)
  assert.equal(requireData(await domains.list()).data.find(row => row.id === id)!.capabilities, expected)
})

test('domains.create: what cannot be honoured is refused by name', async () => {
  const { domains } = resend
  const { error } = await domains.create({ name: 'path.example', customReturnPath: 'outbound' })
  assert.match(error!.message, '`custom_return_path`')
  assertTold(await domains.create({ name: 'far.example', region: 'sa-east-1' }), 'invalid_region', 422)
})

test('domains.claims: a name moves to the account that proves it', async () => {
  const { id } = await mailhorn.verifiedDomain('claimed.example')
  const { session } = addAccount(mailhorn, 'claimant')
  const { domains } = new Resend(session, { baseUrl: mailhorn.baseUrl })
  const created = await domains.create({ name: 'claimed.example' })
  assert.match(created.error!.message, 'POST /domains/claim')
  const claim = requireData(await domains.claims.create({ name: 'claimed.example', openTracking: true }))
  assert.equal([claim.object, claim.status], ['domain_claim', 'pending'])
  mailhorn.zone.add(`${claim.record.name} ${claim.record.type} "${claim.record.value}"`)
  assert.is(requireData(await domains.claims.verify(claim.domain_id!)).status, 'completed')
  assert.is(requireData(await domains.claims.get(claim.domain_id!)).status, 'completed')
  assert.is(requireData(await resend.domains.get(id)).status, 'failed')
  assertTold(await resend.domains.claims.get(id), 'not_found', 404)
})

test.run()
