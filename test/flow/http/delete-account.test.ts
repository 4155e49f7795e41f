import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Id, parseWireId } from '../../../src/lib/ids.ts'
import { addAccount } from '../../kit/accounts.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { fullAccount, tablesWith } from '../../kit/full-account.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('deleting an account')
const ZONE = `there.example MX 10 mx.there.example
mx.there.example A 127.0.0.2`

let mx: FakeMx
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
})
test.after(() => mx.close())

function untilGone(mailhorn: Mailhorn, id: Id) {
  return until(async () => {
    mailhorn.clock.advance(60_000)
    return mailhorn.rows('select id from accounts where id = ?', id).length === 0
  })
}

test('it is closed at once; then nothing of it is left, and others keep everything', async t => {
  const mailhorn = await t.using(startMailhorn({ zone: ZONE, mxPort: mx.port }))
  const other = await fullAccount(mailhorn, 'other', 'other.example')
  const gone = await fullAccount(mailhorn, 'gone', 'gone.example')
  // requests are logged some time after their replies
  const otherTables = await until(() => {
    const tables = tablesWith(mailhorn, other.id)
    return tables.includes('logged_bodies') ? tables : undefined
  })
  assert.ok(otherTables.length > 20, otherTables.join())
  const contents = () => mailhorn.rows('select id from contents').length
  const path = `/accounts/${gone.wireId}`
  const { status, body } = await mailhorn.call('DELETE', path, { session: gone.operator })
  assert.equal([status, body], [200, { object: 'account', id: gone.wireId, deleted: true }])

  assert.is((await mailhorn.call('GET', '/account', { session: gone.session })).status, 401)
  assert.is((await mailhorn.call('POST', '/emails', { key: gone.key, body: {} })).status, 401)
  assert.is((await mailhorn.call('GET', path, { session: gone.operator })).status, 404)
  assert.is((await mailhorn.call('DELETE', path, { session: gone.operator })).status, 404)
  const { body: list } = await mailhorn.call('GET', '/accounts', { session: gone.operator })
  assert.not(list.data.some(({ id }: { id: string }) => id === gone.wireId))
  assert.is(list.total, list.data.length)
  // the address of its owner is free
  const owner = { name: 'New', owner_email: 'gone@accounts.example' }
  assert.is((await mailhorn.call('POST', '/accounts', { session: gone.operator, body: owner })).status, 201)

  const before = contents()
  await untilGone(mailhorn, gone.id)
  assert.equal(tablesWith(mailhorn, gone.id), [])
  assert.ok(contents() < before)
  assert.equal(tablesWith(mailhorn, other.id), otherTables)
})

test('its verified domain can be registered by others, and mail that waits is not sent', async t => {
  const mailhorn = await t.using(startMailhorn({ zone: ZONE, mxPort: mx.port }))
  const { session, apiKey } = addAccount(mailhorn, 'former')
  const { body: account } = await mailhorn.call('GET', '/account', { session })
  const operator = await mailhorn.signIn()
  await mailhorn.verifiedDomain('taken.example')
  mailhorn.change('update domains set account_id = ?', parseWireId('acc', account.id)!)
  const register = { session: operator, body: { name: 'taken.example' } }
  assert.is((await mailhorn.call('POST', '/domains', register)).status, 422)
  const email = { from: 'ann@taken.example', to: 'grey-9@there.example', subject: 'hi', text: 'hello' }
  const { status, body: sent } = await mailhorn.call('POST', '/emails', { key: apiKey, body: email })
  assert.is(status, 200)
  await until(async () => {
    const { body } = await mailhorn.call('GET', `/emails/${sent.id}`, { session })
    return body.last_event === 'delivery_delayed'
  })
  await mailhorn.call('DELETE', `/accounts/${account.id}`, { session: operator })
  await untilGone(mailhorn, parseWireId('acc', account.id)!)
  assert.is((await mailhorn.call('POST', '/domains', register)).status, 201)
  assert.is(mx.messages.length, 0)
})

test('a deletion that was interrupted is completed after the next start', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const first = await t.using(startMailhorn({ dataDir }))
  const { id, wireId, operator } = await fullAccount(first, 'gone', 'gone.example')
  await first.call('DELETE', `/accounts/${wireId}`, { session: operator })
  await first.close()
  const second = await t.using(startMailhorn({ dataDir }))
  await untilGone(second, id)
  assert.equal(tablesWith(second, id), [])
})

test('accounts with an operator stay, and only operators delete accounts', async t => {
  const mailhorn = await t.using(startMailhorn())
  const session = await mailhorn.signIn()
  const { body: own } = await mailhorn.call('GET', '/account', { session })
  await refuses(mailhorn, ['DELETE', `/accounts/${own.id}`, { session }], {
    status: 422,
    name: 'validation_error',
  })
  const { session: other } = addAccount(mailhorn, 'other')
  const { body: theirs } = await mailhorn.call('GET', '/account', { session: other })
  await refuses(mailhorn, ['DELETE', `/accounts/${theirs.id}`, { session: other }], {
    status: 403,
    name: 'invalid_access',
  })
  assert.is((await mailhorn.call('GET', '/account', { session: other })).status, 200)
})

test.run()
