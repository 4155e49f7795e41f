import * as assert from 'uvu/assert'
import { addAccount, type OtherAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('GET /emails')
let mailhorn: Mailhorn
let stranger: OtherAccount
/** Oldest first. */
const sent: string[] = []
const MINUTE_MS = 60_000
const HELLO = { from: 'Ann <ann@here.example>', to: 'delivered@simulator.test', text: 't' }
const EMAILS = [
  { ...HELLO, subject: 'Order 1', cc: 'Cy <delivered+cc@simulator.test>', reply_to: 'r@here.example' },
  { ...HELLO, subject: 'ORDER 2', to: ['Bounced@simulator.test', 'delivered+two@simulator.test'] },
  { ...HELLO, subject: 'Größe 100%', from: 'bob@other.example', tags: [{ name: 'kind', value: 'a' }] },
  { ...HELLO, subject: 'ＧＲＯＥＳＳＥ _', tags: [{ name: 'kind', value: 'b' }, { note: 'free' }] },
  { ...HELLO, subject: "x' or '1'='1", to: 'failed@simulator.test' },
]

test.before(async () => {
  mailhorn = await startMailhorn()
  stranger = addAccount(mailhorn, 'stranger')
  for (const email of EMAILS) {
    sent.push(await mailhorn.send(email))
    mailhorn.clock.advance(MINUTE_MS)
  }
  for (const id of sent) await mailhorn.emailWhen(id, 'delivered', 'bounced', 'failed')
})
test.after(() => mailhorn.close())

const list = (query = '', key = mailhorn.apiKey) => mailhorn.call('GET', `/emails${query}`, { key })

/** Numbers of the emails that a query finds, in its order. */
async function found(query: string): Promise<number[]> {
  const { status, body } = await list(query)
  assert.is(status, 200, JSON.stringify(body))
  assert.is(body.total, body.data.length)
  return body.data.map(({ id }: { id: string }) => sent.indexOf(id))
}

test('lists the newest first with all fields of a row', async () => {
  const { status, body } = await list()
  assert.is(status, 200)
  assert.equal([body.object, body.total, body.has_more], ['list', 5, false])
  assert.equal(
    body.data.map(({ id }: { id: string }) => id),
    sent.toReversed(),
  )
  const { message_id: messageId, created_at: createdAt, last_event_at: lastEventAt, ...first } = body.data[4]
  assert.equal(first, {
    id: sent[0],
    from: 'Ann <ann@here.example>',
    to: ['delivered@simulator.test'],
    cc: ['Cy <delivered+cc@simulator.test>'],
    bcc: [],
    reply_to: ['r@here.example'],
    subject: 'Order 1',
    status: 'delivered',
    last_event: 'delivered',
    open_count: 0,
    click_count: 0,
    broadcast_id: null,
    topic_id: null,
    scheduled_at: null,
  })
  assert.match(messageId, /^<.+@here\.example>$/)
  for (const time of [createdAt, lastEventAt]) assert.match(time, /^\d{4}-.+T.+\.\d{3}Z$/)
})

test('accepts a dashboard session', async () => {
  const { body } = await mailhorn.call('GET', '/emails', { session: await mailhorn.signIn() })
  assert.is(body.total, 5)
})

const FILTERS: [string, number[]][] = [
  ['?status=delivered', [3, 2, 0]],
  ['?status=bounced', [1]],
  ['?status=failed', [4]],
  ['?status=canceled', []],
  ['?q=order', [1, 0]],
  ['?q=DER%202', [1]],
  ['?q=gr%C3%B6%C3%9Fe', [2]],
  ['?q=groesse', [3]],
  ['?q=%25', [2]],
  ['?q=_', [3]],
  ['?q=%27%20or%20%271%27%3D%271', [4]],
  ['?q=%25order%25', []],
  ['?q=%00', []],
  ['?q=', [4, 3, 2, 1, 0]],
  ['?from=ANN@here.example', [4, 3, 1, 0]],
  ['?from=Bob%20%3Cbob%40other.example%3E', [2]],
  ['?to=bounced@simulator.test', [1]],
  ['?to=delivered%2Btwo@simulator.test', [1]],
  ['?tag=kind', [3, 2]],
  ['?tag=kind:a', [2]],
  ['?tag=free', []],
  ['?domain=Other.example', [2]],
  ['?domain=nowhere.example', []],
  ['?broadcast_id=brd_01990000-0000-7000-8000-000000000000', []],
  ['?search=order', [1, 0]],
  ['?search=2%20order', [1]],
  ['?search=ann@', [4, 3, 1, 0]],
  ['?search=other.exam', [2]],
  ['?search=failed@s', [4]],
  ['?search=kind:b', [3]],
  ['?search=gr%C3%B6%C3%9Fe', [2]],
  ['?search=%3C', [4, 3, 2, 1, 0]],
  ['?search=', [4, 3, 2, 1, 0]],
  ['?search=%00', []],
  ['?search=delivered%2B&status=bounced', [1]],
  ['?search=ann@&q=order&tag=kind', []],
  ['?template_id=tpl_01990000-0000-7000-8000-000000000000', []],
  ['?status=delivered&q=o&from=ann@here.example', [3, 0]],
  ['?status=bounced&q=1', []],
]
for (const [query, numbers] of FILTERS)
  test(`${query} finds ${numbers.length || 'nothing'}`, async () => {
    assert.equal(await found(query), numbers)
  })

test('search finds an email by its id and by its Message-ID, with or without angle brackets', async () => {
  const { body } = await list()
  for (const [i, { id, message_id: messageId }] of body.data.entries()) {
    assert.equal(await found(`?search=${id}`), [4 - i])
    assert.equal(await found(`?search=${encodeURIComponent(messageId)}`), [4 - i])
    assert.equal(await found(`?search=${encodeURIComponent(messageId.slice(1, -1))}`), [4 - i])
  }
})

test('search does not refuse anything that is being typed', async () => {
  const text = '"Ann" <ann@here.example>, eml_01990000-0000-7000-8000-000000000000'
  for (let end = 1; end <= text.length; end++)
    assert.is((await list(`?search=${encodeURIComponent(text.slice(0, end))}`)).status, 200)
})

test('search pages like every list', async () => {
  const page = async (query: string) => {
    const { body } = await list(query)
    return [body.data.map(({ id }: { id: string }) => sent.indexOf(id)), body.has_more, body.total]
  }
  assert.equal(await page('?limit=2&search=ann@'), [[4, 3], true, 4])
  assert.equal(await page('?limit=2&offset=2&search=ann@'), [[1, 0], false, 4])
  assert.equal(await page(`?limit=2&after=${sent[3]}&search=ann@`), [[1, 0], false, 4])
})

test('filters by creation time, begin included and end excluded', async () => {
  const { body } = await list()
  const at = (i: number) => encodeURIComponent(body.data[4 - i].created_at)
  assert.equal(await found(`?created_after=${at(1)}&created_before=${at(3)}`), [2, 1])
  assert.equal(await found(`?created_after=${at(3)}`), [4, 3])
  assert.equal(await found('?created_before=2020-01-01'), [])
  const offset = body.data[4].created_at.replace('Z', '%2B00:00')
  assert.equal(await found(`?created_before=${offset}`), [])
})

test('pages by limit and offset', async () => {
  const page = async (query: string) => {
    const { body } = await list(query)
    return [body.data.map(({ id }: { id: string }) => sent.indexOf(id)), body.has_more, body.total]
  }
  assert.equal(await page('?limit=2'), [[4, 3], true, 5])
  assert.equal(await page('?limit=2&offset=2'), [[2, 1], true, 5])
  assert.equal(await page('?limit=2&offset=4'), [[0], false, 5])
  assert.equal(await page('?limit=100&offset=5'), [[], false, 5])
  assert.equal(await page('?limit=1&q=order'), [[1], true, 2])
})

test('pages by the cursors of the SDKs', async () => {
  const page = async (query: string) => {
    const { body } = await list(query)
    return [body.data.map(({ id }: { id: string }) => sent.indexOf(id)), body.has_more, body.total]
  }
  assert.equal(await page(`?limit=2&after=${sent[4]}`), [[3, 2], true, 5])
  assert.equal(await page(`?limit=3&after=${sent[3]!.slice(4)}`), [[2, 1, 0], false, 5])
  assert.equal(await page(`?limit=2&before=${sent[0]}`), [[2, 1], true, 5])
  assert.equal(await page(`?limit=9&before=${sent[2]}`), [[4, 3], false, 5])
  assert.equal(await page(`?after=${sent[3]}&status=delivered`), [[2, 0], false, 3])
  assert.equal(await page(`?after=${sent[0]}`), [[], false, 5])
})

const UNKNOWN = '01990000-0000-7000-8000-000000000000'
const REFUSED: [string, string][] = [
  ['?limit=0', 'limit'],
  ['?limit=101', 'limit'],
  ['?limit=ten', 'limit'],
  ['?limit=1.5', 'limit'],
  ['?offset=-1', 'offset'],
  ['?offset=1e3', 'offset'],
  ['?status=opened', 'status'],
  ['?status=Delivered', 'status'],
  ['?status=__proto__', 'status'],
  ['?from=nobody', 'from'],
  ['?to=a@b.example,c@d.example', 'to'],
  ['?domain=no%20domain', 'domain'],
  ['?broadcast_id=1', 'broadcast_id'],
  [`?broadcast_id=eml_${UNKNOWN}`, 'broadcast_id'],
  ['?template_id=welcome', 'template_id'],
  [`?search=${'x'.repeat(501)}`, 'search'],
  ['?created_after=yesterday', 'created_after'],
  ['?created_after=2026-02-30', 'created_after'],
  ['?created_before=2026-01-01T00:00:00', 'created_before'],
  ['?after=1', 'after'],
  [`?after=dom_${UNKNOWN}`, 'after'],
  [`?before=${UNKNOWN}%00`, 'before'],
  [`?after=${UNKNOWN}&before=${UNKNOWN}`, 'before'],
]
for (const [query, path] of REFUSED)
  test(`${query} is refused`, async () => {
    assertRefusal(await list(query), { status: 422, name: 'validation_error', path })
  })

test('refuses a cursor of an unknown email or another account', async () => {
  for (const direction of ['after', 'before']) {
    assertRefusal(await list(`?${direction}=${UNKNOWN}`), { status: 404, name: 'not_found' })
    assertRefusal(await list(`?${direction}=${sent[0]}`, stranger.apiKey), { status: 404, name: 'not_found' })
  }
})

test('excludes other accounts', async () => {
  for (const query of ['', '?status=delivered', '?q=order', '?search=order', '?from=ann@here.example']) {
    const { body } = await list(query, stranger.apiKey)
    assert.equal([body.total, body.data], [0, []])
  }
})

test('excludes emails beyond retention from list, total and cursors', async () => {
  const old = await startMailhorn({ env: { MAILHORN_PLANS_SCALE_RETENTION_DAYS: '7' } })
  try {
    const first = await old.send({ ...HELLO, subject: 'old' })
    await old.emailWhen(first, 'delivered')
    old.clock.advance(7 * 24 * 60 * MINUTE_MS + 1)
    const second = await old.send({ ...HELLO, subject: 'new' })
    const { body } = await old.call('GET', '/emails', { key: old.apiKey })
    assert.equal([body.total, body.data.map(({ id }: { id: string }) => id)], [1, [second]])
    assertRefusal(await old.call('GET', `/emails?after=${first}`, { key: old.apiKey }), {
      status: 404,
      name: 'not_found',
    })
  } finally {
    await old.close()
  }
})

test.run()
