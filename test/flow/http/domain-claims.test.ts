import * as assert from 'uvu/assert'
import { addAccount, type OtherAccount } from '../../kit/accounts.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type ApiAnswer, type Mailhorn, startMailhorn, zoneText } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('domain claims')
const HOUR_MS = 3_600_000
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
let mailhorn: Mailhorn
let mx: FakeMx
/** Session of the account that has the names verified. */
let session = ''
let claimant: OtherAccount
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  session = await mailhorn.signIn()
  claimant = addAccount(mailhorn, 'claimant')
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

type Body = Record<string, unknown>
const call = (by: string, method: string, path: string, body?: Body): Promise<ApiAnswer> =>
  mailhorn.call(method, path, { session: by, ...(body && { body }) })
const claim = async (name: string, more: Body = {}, by = claimant.session) => {
  const { status, body } = await call(by, 'POST', '/domains/claim', { name, ...more })
  assert.is(status, 201, JSON.stringify(body))
  return body
}
const verify = async ({ domain_id }: { domain_id: string }, by = claimant.session) =>
  (await call(by, 'POST', `/domains/${domain_id}/claim/verify`)).body
const prove = ({ record }: { record: { name: string; value: string } }) =>
  mailhorn.zone.add(`${record.name} TXT "${record.value}"`)
const statusOf = async (id: string, by: string) => (await call(by, 'GET', `/domains/${id}`)).body.status
const typesOf = async (id: string, by: string) =>
  (await call(by, 'GET', '/activity?limit=100')).body.data
    .filter((event: { subject_id: string }) => event.subject_id === id)
    .map(({ type }: { type: string }) => type)

test('a claim is made with a record and the settings, and is the same when it is repeated', async () => {
  await mailhorn.verifiedDomain('twice.example')
  const made = await claim('Twice.Example', { openTracking: true, region: 'eu-west-1' })
  assert.equal(
    [made.object, made.name, made.status, made.region, made.blocked_reason, made.failure_reason],
    ['domain_claim', 'twice.example', 'pending', 'eu-west-1', null, null],
  )
  assert.equal(
    [made.record.type, made.record.name, made.record.ttl],
    ['TXT', '_svc-claim.twice.example', 'Auto'],
  )
  assert.match(made.record.value, /^svc-claim=[a-z2-7]{32}$/)
  assert.is(Date.parse(made.expires_at) - Date.parse(made.created_at), 7 * 24 * HOUR_MS)
  const { body: domain } = await call(claimant.session, 'GET', `/domains/${made.domain_id}`)
  assert.equal([domain.status, domain.open_tracking, domain.region], ['pending', true, 'eu-west-1'])
  assert.equal(await claim('twice.example'), made)
  assert.equal((await call(claimant.session, 'GET', `/domains/${made.domain_id}/claim`)).body, made)
})

test('without its record a claim changes nothing and says what is missing', async () => {
  const { id } = await mailhorn.verifiedDomain('missing.example')
  const made = await claim('missing.example')
  mailhorn.zone.add('_svc-claim.missing.example TXT "svc-claim=somebody-elses"')
  const checked = await verify(made)
  assert.is(checked.status, 'pending')
  assert.match(checked.failure_reason, 'TXT record was not found')
  assert.is(await statusOf(id, session), 'verified')
})

test('a proven claim moves the name, and nothing that was accepted is lost', async () => {
  const { id } = await mailhorn.verifiedDomain('moved.example')
  const mail = { from: 'a@moved.example', subject: 's', text: 't' }
  const queued = await mailhorn.send({ ...mail, to: 'grey-1@there.example' })
  await mailhorn.emailWhen(queued, 'delivery_delayed')
  const made = await claim('moved.example')
  prove(made)
  const moved = await verify(made)
  assert.equal([moved.status, moved.failure_reason], ['completed', null])
  assert.is(await statusOf(id, session), 'failed')
  assert.equal(await typesOf(id, session), [
    'domain.updated',
    'domain.verified',
    'domain.updated',
    'domain.created',
  ])
  const refused = await mailhorn.call('POST', '/emails', {
    ...{ key: mailhorn.apiKey, body: { ...mail, to: 'ok@there.example' } },
  })
  assert.is(refused.status, 403)
  await until(async () => {
    mailhorn.clock.advance(60_000)
    return (await mailhorn.email(queued)).status === 'delivered'
  })

  // the records of the former domain are still there, and do not win the name back
  const { body: again } = await call(session, 'POST', `/domains/${id}/verify`)
  assert.is(again.status, 'failed')
  assert.equal(again.checks.ownership.problems.at(-1).code, 'verified_elsewhere')
  await refuses(
    mailhorn,
    ['POST', '/domains', { session: addAccount(mailhorn, 'third').session, body: { name: 'moved.example' } }],
    { status: 422, name: 'validation_error', path: 'name', says: /already verified by another account/ },
  )

  const { body: domain } = await call(claimant.session, 'GET', `/domains/${made.domain_id}`)
  assert.is(domain.status, 'pending')
  mailhorn.zone.add(zoneText(domain.records))
  const { body: verified } = await call(claimant.session, 'POST', `/domains/${domain.id}/verify`)
  assert.is(verified.status, 'verified')
})

test('a domain whose own records are there already is verified together with its claim', async () => {
  const { id } = await mailhorn.verifiedDomain('ready.example')
  const made = await claim('ready.example')
  const { body: domain } = await call(claimant.session, 'GET', `/domains/${made.domain_id}`)
  mailhorn.zone.add(zoneText(domain.records))
  prove(made)
  assert.is((await verify(made)).status, 'completed')
  assert.equal(
    [await statusOf(made.domain_id, claimant.session), await statusOf(id, session)],
    ['verified', 'failed'],
  )
  // the former owner can prove that it owns the name, too
  const back = await claim('ready.example', {}, session)
  assert.is(back.domain_id, id)
  prove(back)
  assert.is((await verify(back, session)).status, 'completed')
  assert.is(await statusOf(made.domain_id, claimant.session), 'failed')
  const { body: former } = await call(claimant.session, 'GET', `/domains/${made.domain_id}/claim`)
  assert.is(former.status, 'superseded')
})

test('scheduled mail of the other account holds a proven claim up for 72 hours at most', async () => {
  const { id } = await mailhorn.verifiedDomain('held.example')
  const mail = { from: 'a@held.example', subject: 's', text: 't', to: 'ok@there.example' }
  const at = (ms: number) => new Date(mailhorn.clock.now() + ms).toISOString()
  const soon = await mailhorn.send({ ...mail, scheduled_at: at(HOUR_MS) })
  const late = await mailhorn.send({ ...mail, scheduled_at: at(100 * HOUR_MS) })
  const made = await claim('held.example')
  mailhorn.change('update domain_claims set expires_at = expires_at - ?', 7 * 24 * HOUR_MS - 60_000)
  prove(made)
  const blocked = await verify(made)
  assert.equal([blocked.status, blocked.blocked_reason], ['blocked', 'pending_scheduled_emails'])
  assert.is(await statusOf(id, session), 'verified')
  mailhorn.clock.advance(HOUR_MS)
  await mailhorn.emailWhen(soon, 'delivered')
  assert.is((await verify(made)).status, 'completed')
  assert.is(await statusOf(id, session), 'failed')
  mailhorn.clock.advance(100 * HOUR_MS)
  const failed = await mailhorn.emailWhen(late, 'failed')
  assert.match(failed.error, 'no longer verified')
})

test('a claim that is not proven within seven days has expired, and can be made anew', async () => {
  const { id } = await mailhorn.verifiedDomain('late.example')
  const made = await claim('late.example')
  prove(made)
  mailhorn.clock.advance(7 * 24 * HOUR_MS)
  session = await mailhorn.signIn()
  assert.is((await verify(made)).status, 'expired')
  assert.is(await statusOf(id, session), 'verified')
  const anew = await claim('late.example')
  assert.is.not(anew.record.value, made.record.value)
  assert.is(anew.domain_id, made.domain_id)
})

test('a name that nobody else has, or that is not claimable, is refused', async () => {
  await mailhorn.verifiedDomain('own.example')
  await call(claimant.session, 'POST', '/domains', { name: 'region.example' })
  await mailhorn.verifiedDomain('region.example')
  for (const [by, body, path] of [
    [claimant.session, { name: 'nobody.example' }, 'name'],
    [session, { name: 'own.example' }, 'name'],
    [claimant.session, { name: 'not a name' }, 'name'],
    [claimant.session, { name: 'gmail.com' }, 'name'],
    [claimant.session, {}, 'name'],
    [claimant.session, { name: 'own.example', region: 'sa-east-1' }, 'region'],
    [claimant.session, { name: 'region.example', region: 'eu-west-1' }, 'region'],
    [claimant.session, { name: 'own.example', custom_return_path: 'bounces' }, 'custom_return_path'],
  ] as const) {
    const { status, body: message } = await call(by, 'POST', '/domains/claim', body)
    assert.equal([status, message.errors[0].path], [422, path], JSON.stringify([body, message]))
  }
  const { body: list } = await call(claimant.session, 'GET', '/domains?limit=100')
  assert.not(list.data.some(({ name }: { name: string }) => name === 'own.example'))
})

test('a domain without a claim, or of another account, has none to show', async () => {
  const { id } = await mailhorn.verifiedDomain('none.example')
  for (const by of [session, claimant.session])
    for (const [method, path] of [
      ['GET', 'claim'],
      ['POST', 'claim/verify'],
    ] as const)
      assert.is((await call(by, method, `/domains/${id}/${path}`)).status, 404)
})

test.run()
