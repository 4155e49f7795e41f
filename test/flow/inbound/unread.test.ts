import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { addInbound } from '../../kit/inbound.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { sendMail } from '../../kit/smtp-client.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('unread received mail')

let mailhorn: Mailhorn
let session: string
let accountId: string

test.before(async () => {
  mailhorn = await startMailhorn()
  await mailhorn.verifiedDomain('here.example')
  await mailhorn.verifiedDomain('other.example')
  session = await mailhorn.signIn()
  accountId = (await get('/account')).body.id
})
test.after(() => mailhorn.close())

const get = (path: string) => mailhorn.call('GET', path, { session })
const ask = (method: string, path: string, body: object, credential: object = { session }) =>
  mailhorn.call(method, path, { ...credential, body })

/** Adds mail with these subjects. @returns their ids */
function received(subjects: readonly string[], account = accountId): string[] {
  return subjects.map(subject => {
    mailhorn.clock.advance(1)
    return addInbound(mailhorn, account, { data: `Subject: ${subject}\n\nhi\n`, unread: true }).id
  })
}

async function listed(query: string): Promise<string[]> {
  const { body } = await get(`/inbound?${query}`)
  assert.is(body.total, body.data.length)
  return body.data.map(({ subject }: { subject: string }) => subject)
}

async function unreadCount(): Promise<number> {
  const { body } = await get('/inbound/unread-count')
  assert.equal([body.object, body.has_more], ['unread_count', false])
  return body.count
}

async function readAll(): Promise<void> {
  const { body } = await get('/inbound?unread=true&limit=100')
  const ids = body.data.map(({ id }: { id: string }) => id)
  if (ids.length > 0) await ask('POST', '/inbound/batch/update', { ids, unread: false })
}

test('a message is unread until it is marked as read; reading it by the API does not mark it', async () => {
  const before = await unreadCount()
  await sendMail(mailhorn.app.inboundAddress!, {
    ...{ from: 'ann@there.example', to: 'bob@here.example', data: 'Subject: arrived\n\nhi\n' },
  })
  const row = await until(async () => (await get('/inbound?q=arrived')).body.data[0])
  const shown = async () =>
    Promise.all(
      [`/inbound/${row.id}`, `/emails/receiving/${row.id}`].map(async path => (await get(path)).body.unread),
    )
  assert.is(row.unread, true)
  assert.equal(await shown(), [true, true], 'reading it by the API does not mark it')
  assert.is(await unreadCount(), before + 1)
  const { body: marked } = await ask('PATCH', `/inbound/${row.id}`, { unread: false })
  assert.equal([marked.id, marked.unread], [row.id, false])
  assert.equal(await shown(), [false, false])
  for (const path of ['/inbound', '/emails/receiving'])
    assert.equal(
      (await get(path)).body.data.map((one: { id: string; unread: boolean }) => [one.id, one.unread])[0],
      [row.id, false],
    )
  assert.is(await unreadCount(), before)
})

test('the list has only unread or only read messages, also of a search', async () => {
  await readAll()
  const [, blue] = received(['filter red', 'filter blue', 'filter green', 'other'])
  await ask('PATCH', `/inbound/${blue}`, { unread: false })
  assert.equal(await listed('q=filter&unread=true'), ['filter green', 'filter red'])
  assert.equal(await listed('q=filter&unread=false'), ['filter blue'])
  assert.equal(await listed('unread=true'), ['other', 'filter green', 'filter red'])
  assert.equal((await get('/emails/receiving?unread=true')).body.total, 3)
  const { body } = await get('/inbound?unread=true&limit=2')
  assert.equal([body.total, body.data.length, body.has_more], [3, 2, true])
  assertRefusal(await get('/inbound?unread=maybe'), { status: 422, name: 'validation_error' })
})

test('several messages are marked at once; those that do not exist are named', async () => {
  await readAll()
  const [a, b, c] = received(['several a', 'several b', 'several c'])
  const gone = received(['gone'])[0]!
  await mailhorn.call('DELETE', `/inbound/${gone}`, { session })
  const { body } = await ask('POST', '/inbound/batch/update', { ids: [a, gone, b, a], unread: false })
  assert.equal(
    body.data.map((one: { id: string; updated: boolean }) => [one.id, one.updated]),
    [
      [a, true],
      [gone, false],
      [b, true],
      [a, true],
    ],
  )
  assert.equal(await listed('unread=true'), ['several c'])
  await ask('POST', '/inbound/batch/update', { ids: [b, c], unread: true })
  assert.equal(await listed('unread=true'), ['several c', 'several b'])
})

test('several messages are deleted at once, with their bytes, and no longer counted', async () => {
  await readAll()
  const [a, b, c] = received(['doomed a', 'doomed b', 'kept c'])
  const { total } = (await get('/inbound')).body
  const { body } = await ask('POST', '/inbound/batch/remove', { ids: [a, b, a] })
  assert.equal(
    body.data.map((one: { id: string; deleted: boolean }) => [one.id, one.deleted]),
    [
      [a, true],
      [b, true],
      [a, true],
    ],
  )
  assert.is((await get('/inbound')).body.total, total - 2)
  assert.is(await unreadCount(), 1)
  for (const id of [a, b]) assertRefusal(await get(`/inbound/${id}`), { status: 404, name: 'not_found' })
  assert.is((await get(`/inbound/${c}`)).status, 200)
  const again = await ask('POST', '/inbound/batch/remove', { ids: [a] })
  assert.equal(
    again.body.data.map(({ deleted }: { deleted: boolean }) => deleted),
    [false],
  )
})

test('a list of ids has 1 to 100 entries, all of them ids', async () => {
  const [id] = received(['bounds'])
  for (const path of ['/inbound/batch/update', '/inbound/batch/remove']) {
    const refused = async (ids: unknown) => {
      const answer = await ask('POST', path, { ids, unread: true })
      assert.is(answer.status, 422, path)
      return answer.body.errors?.[0].path
    }
    assert.is(await refused([]), 'ids')
    assert.is(await refused(Array(101).fill(id)), 'ids')
    assert.is(await refused([id, 'eml_1']), 'ids[1]')
  }
  assert.is((await ask('PATCH', `/inbound/${id}`, {})).status, 422)
  const { body } = await ask('POST', '/inbound/batch/remove', { ids: Array(100).fill(id) })
  assert.is(body.data.length, 100)
})

test('neither another account nor a key of another domain changes a message', async () => {
  await readAll()
  const [id] = received(['protected'])
  const stranger = addAccount(mailhorn, 'stranger')
  const { body: domains } = await get('/domains')
  const other = domains.data.find(({ name }: { name: string }) => name === 'other.example')
  const bound = await ask('POST', '/api-keys', { name: 'bound', domain_id: other.id })
  for (const credential of [{ session: stranger.session }, { key: bound.body.token }]) {
    const updated = await ask('POST', '/inbound/batch/update', { ids: [id], unread: false }, credential)
    assert.is(updated.body.data[0].updated, false)
    const removed = await ask('POST', '/inbound/batch/remove', { ids: [id] }, credential)
    assert.is(removed.body.data[0].deleted, false)
    const patched = await ask('PATCH', `/inbound/${id}`, { unread: false }, credential)
    assertRefusal(patched, { status: 404, name: 'not_found' })
  }
  assert.equal(await listed('unread=true'), ['protected'])
  const { body } = await mailhorn.call('GET', '/inbound/unread-count', { session: stranger.session })
  assert.is(body.count, 0)
})

test('a key of the domain of a message marks and deletes it', async () => {
  const { body: domains } = await get('/domains')
  const { id: domain_id } = domains.data.find(({ name }: { name: string }) => name === 'other.example')
  const { body: bound } = await ask('POST', '/api-keys', { name: 'bound', domain_id })
  const added = addInbound(mailhorn, accountId, {
    ...{ data: 'Subject: own\n\nhi\n', recipient: 'bob@other.example', unread: true },
  })
  const credential = { key: bound.token }
  const { body } = await mailhorn.call('GET', '/inbound?unread=true', credential)
  assert.equal(
    body.data.map(({ id }: { id: string }) => id),
    [added.id],
  )
  const patched = await ask('PATCH', `/inbound/${added.id}`, { unread: false }, credential)
  assert.is(patched.body.unread, false)
  const removed = await ask('POST', '/inbound/batch/remove', { ids: [added.id] }, credential)
  assert.is(removed.body.data[0].deleted, true)
})

test.run()
