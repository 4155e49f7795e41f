import * as assert from 'uvu/assert'
import {
  answeredMailboxes,
  answerHeaders,
  answeringAddress,
  answerSubject,
  quotation,
} from '../../../../src/interfaces/dashboard/web/labels/answer.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('replies to received messages in the dashboard')
const MESSAGE = {
  from: 'Ann <ann@there.example>',
  to: ['Shop <shop@here.example>', 'ben@there.example'],
  cc: ['"Smith, Cy" <cy@there.example>', 'ANN@there.example', 'ben@there.example'],
  reply_to: [],
  received_for: ['Shop@here.example', 'help@other.example'],
  subject: 'Lamp',
  headers: {},
  message_id: '<1@there.example>',
  created_at: '2026-11-27T20:14:03.000Z',
}

test('a reply comes from an address that received the message at a verified domain', () => {
  for (const [domains, expected] of [
    [['other.example', 'here.example'], 'Shop@here.example'],
    [['other.example'], 'help@other.example'],
    [['elsewhere.example'], ''],
  ] as const)
    assert.is(answeringAddress(MESSAGE, domains), expected)
})

test('a reply goes to the author or to Reply-To, a reply to all also to the others, each once', () => {
  assert.equal(answeredMailboxes(MESSAGE, false), { to: 'Ann <ann@there.example>', cc: '' })
  assert.equal(answeredMailboxes(MESSAGE, true), {
    to: 'Ann <ann@there.example>',
    cc: 'ben@there.example, "Smith, Cy" <cy@there.example>',
  })
  const list = { ...MESSAGE, reply_to: ['list@there.example', 'ben@there.example'] }
  assert.equal(answeredMailboxes(list, true), {
    to: 'list@there.example, ben@there.example',
    cc: '"Smith, Cy" <cy@there.example>, ANN@there.example',
  })
})

test('a subject gets one prefix', () => {
  for (const [subject, expected] of [
    ['Lamp', 'Re: Lamp'],
    ['RE: Lamp', 'RE: Lamp'],
    [' re : Lamp', 're : Lamp'],
    ['Regarding', 'Re: Regarding'],
  ] as const)
    assert.is(answerSubject({ ...MESSAGE, subject }), expected)
})

test('the references are those of the message and its own id; of many, the first and the newest 19', () => {
  assert.equal(answerHeaders(MESSAGE), {
    'In-Reply-To': '<1@there.example>',
    References: '<1@there.example>',
  })
  const withHeaders = (headers: Record<string, string[]>, message_id: string | null = MESSAGE.message_id) =>
    answerHeaders({ ...MESSAGE, headers, message_id })
  assert.is(withHeaders({ references: ['<a@x>\n <b@x>'] }).References, '<a@x> <b@x> <1@there.example>')
  assert.is(withHeaders({ 'in-reply-to': ['<a@x>'] }).References, '<a@x> <1@there.example>')
  const many = Array.from({ length: 5_000 }, (_, i) => `<${i}@x>`)
  assert.is(
    withHeaders({ references: [many.join(' ')] }).References,
    ['<0@x>', ...many.slice(-18), '<1@there.example>'].join(' '),
  )
  assert.equal(withHeaders({}, null), {})
  assert.equal(withHeaders({}, 'no id'), {})
})

test('a quotation says who wrote it when, and begins each line with a mark', () => {
  assert.is(
    quotation(MESSAGE, 'Hello,\r\n\r\n> earlier\r\nbye\r\n').replace(/On .*, Ann/, 'On …, Ann'),
    '\n\nOn …, Ann <ann@there.example> wrote:\n> Hello,\n> \n>> earlier\n> bye',
  )
  assert.match(quotation(MESSAGE, 'x'), /On Friday,? 27 November 2026/)
  assert.is(quotation(MESSAGE, ' \n'), '')
  assert.ok(quotation(MESSAGE, 'x'.repeat(1_000_000)).length < 21_000)
})

test.run()
