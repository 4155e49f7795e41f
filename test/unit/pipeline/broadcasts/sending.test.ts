import * as assert from 'uvu/assert'
import { idKey } from '../../../../src/lib/ids.ts'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import {
  listRecipients,
  type RecipientQuestion,
} from '../../../../src/pipeline/broadcasts/broadcast-recipients.ts'
import { findDueBroadcast } from '../../../../src/pipeline/broadcasts/broadcast-rows.ts'
import { takeStep } from '../../../../src/pipeline/broadcasts/runner.ts'
import { decodeContent } from '../../../../src/resources/emails/content.ts'
import { NO_LINKS, personalContent } from '../../../../src/resources/templates/personal.ts'
import { insertRows } from '../../../kit/database.ts'
import { finishFor, newId } from '../../../kit/mail.ts'
import { suite } from '../../../kit/suite.ts'
import { manyContacts, openBroadcasts } from './scene.ts'

const test = suite('broadcasts/sending')
const ALL = ['there.test', 'far.test']
const PERSON = { ipAddress: '192.0.2.1', userAgent: 'Mail', machine: null, proxy: null }

test('sending: a broadcast goes to every contact of its audience once', async t => {
  const { contacts, sending, work, detail, addresses, rows, counts } = await openBroadcasts(t)
  contacts(manyContacts(600))
  const id = await sending()
  assert.equal((await detail(id)).broadcast.status, 'sending')
  await work()
  const { broadcast } = await detail(id)
  assert.equal([broadcast.memberCount, broadcast.expandedCount], [600, 600])
  assert.equal(addresses().length, 600)
  assert.is(new Set(addresses()).size, 600)
  assert.equal(await counts(id), { 'status.queued': 600 })
  assert.equal(rows('select 1 from broadcast_pages'), [])
  assert.equal(rows('select distinct class from deliveries'), [{ class: 1 }])
  assert.equal(rows('select count(*) as count from contents'), [{ count: 1 }], 'what it says is stored once')
  assert.equal(
    rows('select refs from contents'),
    [{ refs: 602 }],
    'by the draft, the sending, and each email',
  )
})

test('sending: a broadcast is sent once its last email has been handed over', async t => {
  const { contacts, sending, work, detail, claim, run, accountId, clock } = await openBroadcasts(t)
  contacts(manyContacts(2))
  const id = await sending()
  await work()
  const statusNow = async () => (await detail(id)).broadcast.status
  assert.is(await statusNow(), 'sending')
  for (const [i, domain] of ALL.entries()) {
    const [delivery] = await claim(accountId, domain, { class: 1 })
    await run('finish', finishFor(delivery!, clock.now()))
    clock.advance(60_000)
    await work()
    assert.is(await statusNow(), i === 0 ? 'sending' : 'sent')
  }
  const { broadcast, counts } = await detail(id)
  assert.is(broadcast.sentAt, clock.now())
  assert.equal([counts['status.delivered'], broadcast.nextAt], [2, null])
})

test('sending: a broadcast to an empty audience is sent', async t => {
  const { sending, work, detail } = await openBroadcasts(t)
  const id = await sending()
  await work()
  const { broadcast } = await detail(id)
  assert.equal([broadcast.status, broadcast.memberCount], ['sent', 0])
})

test('sending: a limited broadcast is spread evenly, and its rate can be changed', async t => {
  const { contacts, sending, work, detail, addresses, broadcasts, accountId, clock, taken } =
    await openBroadcasts(t)
  contacts(manyContacts(600))
  const id = await sending({ emailsPerHour: 600 })
  const change = async (emailsPerHour: number | null) => {
    const order = { changes: { emailsPerHour }, scheduledAt: undefined, version: null, by: null }
    return taken(await broadcasts.change(accountId, id, order))
  }
  // ten a minute, across pages of members
  await work()
  assert.is(addresses().length, 10)
  for (let minute = 1; minute <= 30; minute++) {
    clock.advance(59_999)
    await work()
    assert.is(addresses().length, 10 * minute)
    clock.advance(1)
    await work()
  }
  assert.is(addresses().length, 310)
  assert.is((await detail(id)).broadcast.expandedCount, 310)

  // a lower rate than one a minute: one at a time
  await change(30)
  clock.advance(60_000)
  await work()
  clock.advance(119_999)
  assert.is(await work(), 0)
  assert.is(addresses().length, 311)

  // without a limit, the rest at once, each contact once
  assert.is((await change(null)).broadcast.emailsPerHour, null)
  await work()
  assert.is(new Set(addresses()).size, 600)
  assert.is(addresses().length, 600)
})

test('sending: contacts who are skipped do not use up the rate', async t => {
  const { contacts, sending, work, addresses } = await openBroadcasts(t)
  const gone = Array.from({ length: 5 }, (_, i) => ({ email: `gone${i}@there.test`, unsubscribed: true }))
  contacts([...gone, { email: 'ann@there.test' }, { email: 'bob@there.test' }])
  await sending({ emailsPerHour: 60 })
  await work()
  assert.equal(addresses(), ['ann@there.test'])
})

test('sending: two processes make the emails of a limited broadcast once for each interval', async t => {
  const { contacts, sending, work, addresses, runner, detail, clock, db } = await openBroadcasts(t)
  contacts(manyContacts(5))
  const id = await sending({ emailsPerHour: 60 })
  await work(2)
  const { due } = await findDueBroadcast(db, clock.now())
  await takeStep(runner, due!, clock.now())
  await takeStep(runner, due!, clock.now())
  assert.is(addresses().length, 1)
  assert.is((await detail(id)).broadcast.expandedCount, 1)
})

test('sending: a scheduled broadcast starts at its time', async t => {
  const { contacts, sending, work, detail, addresses, clock } = await openBroadcasts(t)
  contacts(manyContacts(3))
  const at = clock.now() + 3_600_000
  const id = await sending({}, at)
  assert.is(await work(), 0)
  assert.is((await detail(id)).broadcast.status, 'scheduled')
  clock.advance(3_600_000)
  await work()
  assert.is((await detail(id)).broadcast.startedAt, at)
  assert.is(addresses().length, 3)
})

test('sending: the members of a segment are fixed when sending starts', async t => {
  const { contacts, segment, sending, work, addresses, change, clock, detail, counts } =
    await openBroadcasts(t)
  const ids = contacts([
    { email: 'a@there.test', firstName: 'Ann' },
    { email: 'b@there.test', firstName: 'Bob' },
    { email: 'c@there.test', firstName: 'Ann' },
    { email: 'd@there.test', firstName: 'ANN' },
  ])
  const segmentId = segment([{ field: 'first_name', op: 'eq', value: 'ann' }])
  const id = await sending({ segmentId })
  await work(2) // begun, and its members found
  contacts([{ email: 'late@there.test', firstName: 'Ann' }])
  change("update segments set filters = '[]'")
  change("update contacts set first_name = 'Bob', folded_first_name = 'bob' where email = 'a@there.test'")
  change("update contacts set first_name = 'Ann', folded_first_name = 'ann' where email = 'b@there.test'")
  change('delete from contacts where id = ?', ids[2])
  clock.advance(1_000)
  await work()
  assert.equal(addresses(), ['a@there.test', 'd@there.test'])
  assert.is((await detail(id)).broadcast.memberCount, 3)
  assert.equal(await counts(id), { 'status.queued': 2, 'skipped.deleted': 1 })
})

test('sending: a contact created after the start is no member, even while members are still being found', async t => {
  const { contacts, sending, work, addresses } = await openBroadcasts(t)
  contacts(manyContacts(1_500))
  await sending()
  await work(2)
  contacts([{ email: 'late@there.test' }])
  await work()
  assert.is(addresses().length, 1_500)
  assert.not(addresses().includes('late@there.test'))
})

test('sending: unwilling and suppressed contacts are skipped, up to the time of their expansion', async t => {
  const scene = await openBroadcasts(t)
  const { contacts, topic, say, suppress, sending, work, addresses, counts, accountId, change, rows } = scene
  const topicId = topic()
  const ids = contacts([
    { email: 'gone@there.test', unsubscribed: true },
    { email: 'out@there.test' },
    { email: 'in@there.test' },
    { email: 'bad@there.test' },
    { email: 'silent@there.test' },
    { email: 'leaves@there.test' },
  ])
  say(ids[1]!, topicId, 0)
  say(ids[2]!, topicId, 1)
  suppress(accountId, 'bad@there.test')
  const id = await sending({ topicId })
  await work(2)
  change("update contacts set unsubscribed = 1 where email = 'leaves@there.test'")
  await work()
  assert.equal(addresses(), ['in@there.test', 'silent@there.test'])
  assert.equal(await counts(id), {
    'status.queued': 2,
    'skipped.unsubscribed': 2,
    'skipped.opted_out': 1,
    'skipped.suppressed': 1,
  })
  assert.equal(rows('select email, skip_reason as reason from broadcast_outcomes order by email'), [
    { email: 'bad@there.test', reason: 'suppressed' },
    { email: 'gone@there.test', reason: 'unsubscribed' },
    { email: 'leaves@there.test', reason: 'unsubscribed' },
    { email: 'out@there.test', reason: 'opted_out' },
  ])
})

test('sending: a topic with default opt-out goes only to contacts who have opted in', async t => {
  const { contacts, topic, say, sending, work, addresses } = await openBroadcasts(t)
  const topicId = topic('opt_out')
  const [requests] = contacts(manyContacts(3))
  say(requests!, topicId, 1)
  await sending({ topicId })
  await work()
  assert.equal(addresses(), ['c0@there.test'])
})

test('sending: contacts beyond the quota are skipped and counted', async t => {
  const { contacts, sending, work, addresses, counts, rows } = await openBroadcasts(t, {
    quota: { daily: 260, monthly: 1_000 },
  })
  contacts(manyContacts(400))
  const id = await sending()
  await work()
  assert.is(addresses().length, 260)
  assert.equal(await counts(id), { 'status.queued': 260, 'skipped.quota': 140 })
  assert.equal(rows("select distinct count from counters where kind = 'recipients'"), [{ count: 260 }])
})

test('sending: expansion is slow while the queue is long, and never stops', async t => {
  const { contacts, sending, work, addresses, clock } = await openBroadcasts(t, { slowFrom: 300 })
  contacts(manyContacts(1_000))
  await sending()
  await work()
  assert.is(addresses().length, 500, 'the page that reaches the limit is the last at once')
  for (const [waitMs, count] of [
    [999, 500],
    [1, 750],
    [999, 750],
    [1, 1_000],
  ] as const) {
    clock.advance(waitMs)
    await work()
    assert.is(addresses().length, count)
  }
})

test('sending: a broadcast fails with the reason when its audience, segment or topic is gone', async t => {
  const cases = [
    ['delete from audiences', 'Its audience has been deleted.'],
    ['delete from segments', 'Its segment has been deleted.'],
    ['delete from topics', 'Its topic has been deleted.'],
    ["update domains set status = 'failed'", 'The here.test domain is no longer verified.'],
  ] as const
  for (const [sql, error] of cases) {
    const { contacts, sending, work, segment, topic, change, detail, addresses, clock } =
      await openBroadcasts(t)
    contacts(manyContacts(2))
    const over = { segmentId: segment([]), topicId: topic() }
    const id = await sending(over, clock.now() + 1_000)
    change(sql)
    clock.advance(1_000)
    await work()
    const { broadcast } = await detail(id)
    assert.equal([broadcast.status, broadcast.error, broadcast.nextAt], ['failed', error, null])
    assert.equal(addresses(), [])
  }
})

test('sending: a broadcast of a suspended account is not sent and stays as it is', async t => {
  const { contacts, draft, taken, change, broadcasts, detail, accountId } = await openBroadcasts(t)
  contacts(manyContacts(1))
  const id = taken(await broadcasts.create(accountId, { ...draft(), by: null })).broadcast.id
  change('update accounts set suspended_at = 1')
  const answer = await broadcasts.send(accountId, id, { at: null }, null)
  assert.ok(isRefusal(answer) && answer.refused === 'account_suspended', JSON.stringify(answer))
  assert.is((await detail(id)).broadcast.status, 'draft')
})

test('sending: a domain that loses its verification stops the broadcast until it is verified again', async t => {
  const { contacts, sending, work, change, detail, addresses, rows, run, accountId, clock } =
    await openBroadcasts(t)
  contacts(manyContacts(600))
  const id = await sending()
  await work(3)
  change("update domains set status = 'failed'")
  await work()
  assert.is((await detail(id)).broadcast.status, 'failed')
  assert.is(addresses().length, 250)
  const resume = () => run('resumeBroadcast', { accountId, id, now: clock.now() })
  const message = 'A broadcast that failed cannot be resumed: The here.test domain is no longer verified.'
  assert.equal(await resume(), { refused: 'wrong_state', message })
  change("update domains set status = 'verified'")
  assert.is(await resume(), true)
  await work()
  const { status, error, expandedCount } = (await detail(id)).broadcast
  assert.equal([status, error, expandedCount], ['sending', null, 600])
  assert.is(new Set(addresses()).size, 600)
  assert.is(addresses().length, 600)
  assert.equal(rows('select 1 from broadcast_pages'), [])
})

test('sending: a domain that is not verified at the start can be verified and the broadcast resumed', async t => {
  const { contacts, sending, work, change, addresses, run, accountId, clock } = await openBroadcasts(t)
  contacts(manyContacts(3))
  const id = await sending({}, clock.now() + 1_000)
  change("update domains set status = 'failed'")
  clock.advance(1_000)
  await work()
  change("update domains set status = 'verified'")
  assert.is(await run('resumeBroadcast', { accountId, id, now: clock.now() }), true)
  await work()
  assert.is(addresses().length, 3)
})

test('sending: a broadcast fails when its audience is deleted before its members are found', async t => {
  const { contacts, sending, work, change, detail, addresses, broadcasts, accountId } =
    await openBroadcasts(t)
  contacts(manyContacts(3))
  const id = await sending()
  await work(1)
  await broadcasts.pause(accountId, id)
  change('delete from audiences')
  change('delete from contacts')
  await broadcasts.resume(accountId, id)
  await work()
  const { status, error } = (await detail(id)).broadcast
  assert.equal([status, error], ['failed', 'Its audience has been deleted.'])
  assert.equal(addresses(), [])
})

test('sending: a broadcast without its audience is not resumed and keeps no members', async t => {
  const { contacts, sending, work, change, run, accountId, clock, rows } = await openBroadcasts(t)
  contacts(manyContacts(600))
  const id = await sending()
  await work(3)
  change('delete from audiences')
  await work()
  assert.equal(rows('select 1 from broadcast_pages'), [])
  const message = 'A broadcast that failed cannot be resumed: Its audience has been deleted.'
  assert.equal(await run('resumeBroadcast', { accountId, id, now: clock.now() }), {
    refused: 'wrong_state',
    message,
  })
})

test('sending: a failed broadcast can be canceled', async t => {
  const { contacts, sending, work, change, detail, run, accountId, clock, rows } = await openBroadcasts(t)
  contacts(manyContacts(600))
  const id = await sending()
  await work(3)
  change("update domains set status = 'failed'")
  await work()
  const holdId = newId(clock.now())
  assert.is(await run('cancelBroadcast', { accountId, id, holdId, now: clock.now() }), true)
  await work()
  assert.is((await detail(id)).broadcast.status, 'canceled')
  assert.equal(rows('select 1 from broadcast_pages'), [])
})

test('sending: several broadcasts take turns', async t => {
  const { contacts, sending, work, rows, clock } = await openBroadcasts(t)
  contacts(manyContacts(1_000))
  const ids = [await sending()]
  clock.advance(1)
  ids.push(await sending())
  for (let i = 0; i < 8; i++) {
    clock.advance(1)
    await work(1)
  }
  const counts = rows<{ count: number }>('select expanded_count as count from broadcasts')
  assert.equal(
    counts.map(({ count }) => count),
    [500, 500],
  )
  assert.is(new Set(ids.map(idKey)).size, 2)
})

test('sending: a command in the wrong state is refused', async t => {
  const { contacts, sending, broadcasts, accountId, work, detail } = await openBroadcasts(t)
  contacts(manyContacts(1))
  const id = await sending()
  for (const order of [
    () => broadcasts.send(accountId, id, { at: null }, null),
    () => broadcasts.resume(accountId, id),
    () => broadcasts.delete(accountId, id),
    () =>
      broadcasts.change(accountId, id, {
        ...{ changes: { name: 'other' }, scheduledAt: undefined, version: null, by: null },
      }),
  ]) {
    const answer = await order()
    assert.ok(isRefusal(answer) && answer.refused === 'wrong_state', JSON.stringify(answer))
  }
  await work()
  assert.is((await detail(id)).broadcast.name, 'News')
})

test('sending: a missing value becomes the property’s fallback as of the start of sending', async t => {
  const { contacts, sending, work, run, rows, db, broadcasts, accountId, clock } = await openBroadcasts(t)
  const define = (key: string, fallback: string | null) =>
    run('createPropertyDefinition', {
      ...{ accountId, id: newId(clock.now()), at: clock.now() },
      fields: { key, type: 'string', fallback },
    })
  const city = await define('city', 'your <town>')
  await define('plan', null)
  contacts([
    { email: 'ann@there.test', firstName: 'Ann', properties: { city: 'Rome', plan: 'pro' } },
    { email: 'bob@there.test' },
  ])
  const id = await sending({
    subject: '{{contact.first_name|You}} in {{contact.city}}',
    html: '<p>{{city}}, {{city|here}}, {{plan}}, {{contact.city}}</p>',
    text: 'none',
  })
  await work(1)
  if (typeof city === 'string') throw new Error(city)
  await run('changePropertyDefinition', { accountId, id: city.id, fallback: 'later' })
  await work()
  assert.equal(
    rows<{ subject: string }>('select subject from emails order by id').map(({ subject }) => subject),
    ['Ann in Rome', 'You in your <town>'],
  )
  const { sentContentId } = await db
    .selectFrom('broadcasts')
    .select('sentContentId')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const sent = await db
    .selectFrom('contents')
    .select(['encoding', 'body'])
    .where('id', '=', sentContentId!)
    .executeTakeFirstOrThrow()
  const emails = await db.selectFrom('emails').selectAll().orderBy('id').execute()
  assert.equal(
    emails.map(email => personalContent({ ...email, content: decodeContent(sent) }, NO_LINKS).html),
    ['<p>Rome, Rome, pro, Rome</p>', '<p>your &lt;town&gt;, here, , your &lt;town&gt;</p>'],
  )
  const { broadcast } = (await broadcasts.find(accountId, id))!
  assert.is(broadcast.subject, '{{contact.first_name|You}} in {{contact.city}}', 'it stays as it was written')
  const sample = await broadcasts.preview(accountId, id, null)
  if (!sample || isRefusal(sample)) throw new Error(JSON.stringify(sample))
  assert.equal([sample.subject, sample.html], ['You in later', '<p>later, here, , later</p>'])
  const { findings } = (await broadcasts.lint(accountId, id))!
  assert.equal(
    findings.filter(({ rule }) => rule === 'unknown_variable').map(({ message }) => message.slice(0, 21)),
    ['No contact has “plan”'],
  )
})

test('sending: a property key with any characters is a placeholder if contacts have it', async t => {
  const scene = await openBroadcasts(t)
  const { contacts, sending, work, rows, db, broadcasts, accountId, audienceId } = scene
  const properties = {
    ...{ 'Kunden-Nr.': '17', 'Company/Team': 'R&D', 'plan (old)': 'pro', 'a/b': 'x', 'e.g. this': 'that' },
  }
  const [ann] = contacts([
    { email: 'ann@there.test', properties },
    { email: 'bob@there.test', properties: { 'Kunden-Nr.': '18' } },
  ])
  insertRows(
    scene,
    'contact_properties',
    Object.keys(properties).map((key, i) => ({ audience_id: audienceId, id: i + 1, key, contact_count: 1 })),
  )
  const id = await sending({
    subject: 'No. {{Kunden-Nr.}}',
    previewText: '{{Company/Team|you & yours}}',
    html: '<style>{{ a: b }}</style><p>{{contact.Company/Team}} {{{Company/Team}}} {{ plan (old) | none }} {{e.g. this}}</p>',
    text: '{{a/b|<nothing>}} {{Kunden-Nr.}} {{each: items}}',
  })
  const answerText = [
    '<style>{{ a: b }}</style><p>R&amp;D R&D pro that</p>',
    '<style>{{ a: b }}</style><p>  none </p>',
  ]
  const sample = await broadcasts.preview(accountId, id, ann!)
  if (!sample || isRefusal(sample)) throw new Error(JSON.stringify(sample))
  assert.is(sample.subject, 'No. 17')
  assert.ok(sample.html!.endsWith(answerText[0]!), sample.html!)
  assert.match(sample.html!, />R&amp;D&#847;/)
  assert.is(sample.text, 'x 17 {{each: items}}')
  const { findings } = (await broadcasts.lint(accountId, id))!
  assert.equal(
    findings
      .filter(({ rule }) => rule === 'unknown_variable')
      .map(({ message }) => /“(.*)”/.exec(message)![1]),
    ['a: b', 'each: items'],
    'what stays as it is, is told',
  )
  await work()
  assert.equal(
    rows<{ subject: string }>('select subject from emails order by id').map(({ subject }) => subject),
    ['No. 17', 'No. 18'],
  )
  const { sentContentId } = (await broadcasts.find(accountId, id))!.broadcast
  const sent = await db
    .selectFrom('contents')
    .select(['encoding', 'body'])
    .where('id', '=', sentContentId!)
    .executeTakeFirstOrThrow()
  const emails = await db.selectFrom('emails').selectAll().orderBy('id').execute()
  const words = emails.map(email => personalContent({ ...email, content: decodeContent(sent) }, NO_LINKS))
  for (const [i, { html, text }] of words.entries()) {
    assert.ok(html!.endsWith(answerText[i]!), html!)
    assert.match(html!, i === 0 ? />R&amp;D&#847;/ : />you &amp; yours&#847;/)
    assert.is(text, ['x 17 {{each: items}}', '<nothing> 18 {{each: items}}'][i])
  }
})

test('sending: recipients are listed by the result of their emails', async t => {
  const scene = await openBroadcasts(t)
  const { contacts, sending, work, claim, run, accountId, audienceId, clock, db, broadcasts } = scene
  const ids = contacts(['ann', 'bob', 'cid', 'dan'].map(name => ({ email: `${name}@there.test` })))
  const id = await sending()
  await work()
  const claimed = await claim(accountId, 'there.test', { class: 1 })
  const [ann, bob, cid] = claimed.toSorted((a, b) => (a.address < b.address ? -1 : 1))
  clock.advance(1_000)
  await run('finish', finishFor(ann!, clock.now()))
  await run('finish', finishFor(bob!, clock.now()))
  await run(
    'finish',
    finishFor(cid!, clock.now(), {
      ...{ status: 'bounced', outcome: 'bounced' },
      event: { type: 'email.bounced', data: { bounce: { type: 'Permanent', subtype: 'General' } } },
    }),
  )
  clock.advance(60_000)
  const visit = (delivery: typeof ann, link: number, of = '') => ({
    ...{ recipient: { accountId, emailId: delivery!.emailId, ordinal: 0 }, link },
    ...{ url: link < 0 ? null : `https://shop.example/${link}${of}`, more: 0, moreMachines: 0 },
    ...{ hits: [{ at: clock.now(), visitor: PERSON }], lastAt: clock.now() },
  })
  await run('recordVisits', {
    visits: [visit(cid, 2, '?cid'), visit(ann, -1), visit(ann, 2), visit(ann, 2), visit(bob, -1)],
  })
  await run('removeContact', { accountId, audienceId, ref: { id: ids[1]! }, at: clock.now() })

  const { broadcast } = (await broadcasts.find(accountId, id))!
  const list = (over: Partial<RecipientQuestion>) =>
    listRecipients(db, {
      ...{ broadcast, horizon: 0, type: 'sent' as const, address: null, bounceType: null },
      ...{ skipReason: null, link: null, isCounted: true },
      page: { limit: 10, offset: 0, cursor: null },
      ...over,
    })
  const names = async (over: Partial<RecipientQuestion>) => {
    const { total, rows } = await list(over)
    assert.is(total, rows.length)
    return rows.map(({ address }) => address!.slice(0, 3))
  }
  assert.equal(await names({}), ['cid', 'bob', 'ann'], 'newest first')
  const uncounted = (cursor: RecipientQuestion['page']['cursor']) =>
    list({ isCounted: false, page: { limit: 2, offset: 0, cursor } })
  const start = await uncounted(null)
  const rest = await uncounted({ id: start.rows[1]!.id, side: 'older' })
  assert.equal(
    [
      start.hasMore,
      rest.hasMore,
      ...[...start.rows, ...rest.rows].map(({ address }) => address!.slice(0, 3)),
    ],
    [true, false, 'cid', 'bob', 'ann'],
    'page by page without a total',
  )
  assert.equal(await names({ type: 'delivered' }), ['bob', 'ann'])
  assert.equal(await names({ type: 'opened' }), ['bob', 'ann'])
  assert.equal(await names({ type: 'bounced' }), ['cid'])
  assert.equal(await names({ type: 'bounced', bounceType: 'Permanent' }), ['cid'])
  assert.equal(await names({ type: 'bounced', bounceType: 'Transient' }), [])
  assert.equal(await names({ type: 'complained' }), [])
  assert.equal(await names({ type: 'clicked', link: 2 }), ['cid', 'ann'])
  assert.equal(await names({ type: 'clicked', link: 1 }), [])
  assert.equal(await names({ address: 'ann@there.test' }), ['ann'])
  assert.equal(await names({ horizon: clock.now() }), [], 'what is beyond retention is out of sight')
  const [other, clicked] = (await list({ type: 'clicked' })).rows
  assert.equal(other!.links, [{ url: 'https://shop.example/2?cid', clicks: 1 }], 'each their own')
  assert.equal(
    [idKey(clicked!.id), idKey(clicked!.contactId!), clicked!.clickCount, clicked!.links],
    [idKey(ann!.emailId), idKey(ids[0]!), 2, [{ url: 'https://shop.example/2', clicks: 2 }]],
  )
  const [bounced, left] = (await list({})).rows
  assert.equal([bounced!.bounceType, left!.bounceType, left!.contactId], ['Permanent', null, null])
  const first = await list({ page: { limit: 1, offset: 0, cursor: null } })
  assert.equal([first.total, first.hasMore, first.rows[0]!.address], [3, true, 'cid@there.test'])
  const cursor = { id: first.rows[0]!.id, side: 'older' as const }
  const next = await list({ page: { limit: 2, offset: 0, cursor } })
  assert.equal(
    [next.hasMore, next.rows.map(({ address }) => address)],
    [false, ['bob@there.test', 'ann@there.test']],
  )
})

test.run()
