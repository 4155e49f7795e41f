import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn, zoneText } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { sendMail } from '../../kit/smtp-client.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('conversations with received mail')

let mailhorn: Mailhorn
/** Session of another account, with the domain `theirs.example`. */
let stranger: string

test.before(async () => {
  mailhorn = await startMailhorn()
  await mailhorn.verifiedDomain('here.example')
  await mailhorn.verifiedDomain('other.example')
  stranger = addAccount(mailhorn, 'stranger').session
  const { body } = await mailhorn.call('POST', '/domains', {
    ...{ session: stranger, body: { name: 'theirs.example' } },
  })
  mailhorn.zone.add(zoneText(body.records))
  await mailhorn.call('POST', `/domains/${body.id}/verify`, { session: stranger })
})
test.after(() => mailhorn.close())

const get = (path: string, credential: object = { key: mailhorn.apiKey }) =>
  mailhorn.call('GET', path, credential)

interface Mail {
  subject: string
  id?: string
  answers?: string
  references?: string
  to?: string
}

/** Takes the mail in at port 25. @returns its id, once it is listed */
async function receive(
  { subject, id, answers, references, to = 'bob@here.example' }: Mail,
  credential: object = { key: mailhorn.apiKey },
): Promise<string> {
  const lines = [
    'From: Ann <ann@there.example>',
    `To: ${to}`,
    `Subject: ${subject}`,
    ...(id ? [`Message-ID: ${id}`] : []),
    ...(answers ? [`In-Reply-To: ${answers}`] : []),
    ...(references ? [`References: ${references}`] : []),
  ]
  const mail = { from: 'ann@there.example', to, data: `${lines.join('\n')}\n\nhi\n` }
  assert.match(await sendMail(mailhorn.app.inboundAddress!, mail), /^250 /)
  return until(async () => {
    const { body } = await get(`/inbound?q=${encodeURIComponent(subject)}`, credential)
    return body.data[0]?.id as string | undefined
  })
}

async function send(body: object): Promise<{ id: string; messageId: string }> {
  const more = { from: 'bob@here.example', to: 'delivered@simulator.test', text: 'hello' }
  const { body: sent } = await mailhorn.call('POST', '/emails', {
    ...{ key: mailhorn.apiKey, body: { ...more, ...body } },
  })
  const { message_id: messageId } = await mailhorn.email(sent.id)
  return { id: sent.id, messageId }
}

/** Subjects of the conversation, oldest first. */
async function thread(id: string): Promise<string[]> {
  const { body } = await get(`/inbound/${id}/thread`)
  return body.data.map(({ subject }: { subject: string }) => subject)
}

async function countOf(id: string): Promise<number> {
  return (await get(`/inbound/${id}`)).body.thread_count
}

test('messages that refer to each other are a conversation, oldest first, with our emails', async () => {
  const first = await receive({ subject: 'a1', id: '<a1@there.example>' })
  const answer = await send({
    ...{ subject: 'a2', headers: { 'In-Reply-To': '<a1@there.example>', References: '<a1@there.example>' } },
  })
  const references = `<a1@there.example> ${answer.messageId}`
  const third = await receive({
    subject: 'a3',
    id: '<a3@there.example>',
    answers: answer.messageId,
    references,
  })
  const { body: reply } = await mailhorn.call('POST', `/inbound/${third}/reply`, {
    ...{ key: mailhorn.apiKey, body: { from: 'bob@here.example', text: 'a4' } },
  })
  const other = await receive({ subject: 'apart', id: '<apart@there.example>' })
  const { body } = await get(`/inbound/${first}/thread`)
  assert.equal([body.object, body.has_more], ['thread', false])
  assert.equal(
    body.data.map((one: { object: string; id: string; subject: string }) => [
      one.object,
      one.id,
      one.subject,
    ]),
    [
      ['inbound_email', first, 'a1'],
      ['email', answer.id, 'a2'],
      ['inbound_email', third, 'a3'],
      ['email', reply.id, 'Re: a3'],
    ],
  )
  const [received, sent] = body.data
  assert.equal(
    [received.from, received.to, received.unread, received.status],
    ['Ann <ann@there.example>', ['bob@here.example'], true, null],
  )
  assert.equal([sent.from, sent.to, sent.unread], ['bob@here.example', ['delivered@simulator.test'], false])
  assert.equal(await thread(third), ['a1', 'a2', 'a3', 'Re: a3'])
  assert.equal(await thread(other), ['apart'])
  assert.equal([await countOf(first), await countOf(third), await countOf(other)], [4, 4, 1])
  const { body: list } = await get('/inbound?limit=3')
  assert.equal(
    list.data.map((row: { thread_count: number }) => row.thread_count),
    [1, 4, 4],
  )
  assert.is((await get(`/emails/receiving/${first}`)).body.thread_count, 4)
})

test('an answer to one of our emails begins a conversation with it', async () => {
  const { messageId } = await send({ subject: 'b1' })
  const answer = await receive({ subject: 'b2', id: '<b2@there.example>', answers: messageId })
  assert.equal(await thread(answer), ['b1', 'b2'])
  const again = await receive({ subject: 'b3', answers: '<b2@there.example>', references: messageId })
  assert.equal(await thread(again), ['b1', 'b2', 'b3'])
})

test('messages that arrive before the one they answer meet it, and each other', async () => {
  const late = await receive({ subject: 'c2', references: '<c1@there.example>' })
  const later = await receive({ subject: 'c3', references: '<c1@there.example> <missing@there.example>' })
  const first = await receive({ subject: 'c1', id: '<c1@there.example>' })
  for (const id of [late, later, first]) assert.equal(await thread(id), ['c2', 'c3', 'c1'])
})

test('a circle of references, a message that answers itself, and a repeated Message-ID end somewhere', async () => {
  const one = await receive({ subject: 'd1', id: '<d1@x.example>', answers: '<d2@x.example>' })
  const two = await receive({ subject: 'd2', id: '<d2@x.example>', answers: '<d1@x.example>' })
  const self = await receive({ subject: 'd3', id: '<d3@x.example>', answers: '<d3@x.example>' })
  const twice = await receive({ subject: 'd4', id: '<d1@x.example>', answers: '<d1@x.example>' })
  for (const id of [one, two, twice]) assert.equal(await thread(id), ['d1', 'd2', 'd4'])
  assert.equal(await thread(self), ['d3'])
})

test('thousands of references cost no more than the few that count', async () => {
  const first = await receive({ subject: 'e1', id: '<e1@there.example>' })
  const many = Array.from({ length: 2_000 }, (_, i) => `<r${i}@x.example>`).join('\n ')
  const answer = await receive({ subject: 'e2', references: `${many}\n <e1@there.example>` })
  assert.equal(await thread(answer), ['e1', 'e2'])
  assert.equal(await thread(first), ['e1', 'e2'])
})

test('a conversation has only messages of its account, even if others name the same ids', async () => {
  const ours = await receive({ subject: 'f1', id: '<f1@there.example>' })
  const { messageId } = await send({ subject: 'f-sent' })
  const credential = { session: stranger }
  const mail = { to: 'eve@theirs.example', answers: messageId, references: '<f1@there.example>' }
  const theirs = await receive({ subject: 'f2', id: '<f2@there.example>', ...mail }, credential)
  const { body } = await get(`/inbound/${theirs}/thread`, credential)
  assert.equal(
    body.data.map(({ subject }: { subject: string }) => subject),
    ['f2'],
  )
  assert.equal(await thread(ours), ['f1'])
  assertRefusal(await get(`/inbound/${ours}/thread`, credential), { status: 404, name: 'not_found' })
})

test('a key of a domain sees the messages of that domain', async () => {
  const session = await mailhorn.signIn()
  const { body: domains } = await mailhorn.call('GET', '/domains', { session })
  const { id: domain_id } = domains.data.find(({ name }: { name: string }) => name === 'other.example')
  const { body: bound } = await mailhorn.call('POST', '/api-keys', {
    ...{ session, body: { name: 'bound', domain_id } },
  })
  await receive({ subject: 'g1', id: '<g1@there.example>' })
  await send({ subject: 'g2', headers: { References: '<g1@there.example>' } })
  await send({ subject: 'g3', from: 'bob@other.example', headers: { References: '<g1@there.example>' } })
  const own = await receive({ subject: 'g4', references: '<g1@there.example>', to: 'bob@other.example' })
  assert.equal(await thread(own), ['g1', 'g2', 'g3', 'g4'])
  const { body } = await get(`/inbound/${own}/thread`, { key: bound.token })
  assert.equal(
    body.data.map(({ subject }: { subject: string }) => subject),
    ['g3', 'g4'],
  )
})

test('deleted messages leave the conversation', async () => {
  const first = await receive({ subject: 'h1', id: '<h1@there.example>' })
  const second = await receive({ subject: 'h2', answers: '<h1@there.example>' })
  await mailhorn.call('DELETE', `/inbound/${first}`, { key: mailhorn.apiKey })
  assert.equal(await thread(second), ['h2'])
  assert.is(await countOf(second), 1)
})

test('of a long conversation, the newest hundred messages are shown', async () => {
  const first = await receive({ subject: 'long 0', id: '<long@there.example>' })
  const emails = Array.from({ length: 100 }, (_, i) => ({
    ...{ from: 'bob@here.example', to: 'delivered@simulator.test', subject: `long ${i + 1}`, text: 'x' },
    headers: { 'In-Reply-To': '<long@there.example>' },
  }))
  const sent = await mailhorn.call('POST', '/emails/batch', { key: mailhorn.apiKey, body: emails })
  assert.is(sent.status, 200)
  const { body } = await get(`/inbound/${first}/thread`)
  assert.equal([body.data.length, body.has_more], [100, true])
  assert.equal([body.data[0].subject, body.data.at(-1).subject], ['long 1', 'long 100'])
  assert.is(await countOf(first), 100)
})

test.run()
