import * as assert from 'uvu/assert'
import { cleanText, formatReply, parseReplyLine, replyOf } from '../../../../src/protocols/smtp/reply.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('smtp/reply')

test('SMTP reply: a line has a code, a continuation mark and a text', () => {
  assert.equal(parseReplyLine('250-SIZE 1000'), { code: 250, last: false, text: 'SIZE 1000' })
  assert.equal(parseReplyLine('250 ok'), { code: 250, last: true, text: 'ok' })
  assert.equal(parseReplyLine('250'), { code: 250, last: true, text: '' })
  assert.equal(parseReplyLine('250 '), { code: 250, last: true, text: '' })
})

for (const line of ['', 'hello', '25 ok', '2500 ok', '150 ok', '650 ok', '250ok', ' 250 ok'])
  test(`SMTP reply: ${JSON.stringify(line)} is not a reply`, () => assert.is(parseReplyLine(line), undefined))

test('SMTP reply: the enhanced code is removed from every line', () => {
  const reply = replyOf(550, ['5.1.1 no such user', '5.1.1 ask postmaster'])
  assert.equal(reply, { code: 550, enhanced: '5.1.1', text: 'no such user ask postmaster' })
  assert.is(formatReply(reply), '550 5.1.1 no such user ask postmaster')
})

test('SMTP reply: an enhanced code of another class is ignored', () => {
  assert.equal(replyOf(450, ['5.1.1 odd']), { code: 450, enhanced: null, text: '5.1.1 odd' })
})

test('SMTP reply: an IP address is not an enhanced code', () => {
  assert.is(replyOf(554, ['5.182.17.60 is listed']).enhanced, null)
})

test('SMTP reply: the text is cleaned and limited', () => {
  assert.is(cleanText('a\u0000b\u001b[31m\r\n c\u2028d'), 'a b [31m c d')
  assert.is(cleanText('x'.repeat(5000)).length, 2048)
})

test.run()
