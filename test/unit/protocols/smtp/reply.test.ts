import * as assert from 'uvu/assert'
import { cleanText, formatReply, parseReplyLine, replyOf } from '../../../../src/protocols/smtp/reply.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('smtp/reply')

test('reads the code, whether the reply goes on, and the text of a line', () => {
  assert.equal(parseReplyLine('250-SIZE 1000'), { code: 250, last: false, text: 'SIZE 1000' })
  assert.equal(parseReplyLine('250 ok'), { code: 250, last: true, text: 'ok' })
  assert.equal(parseReplyLine('250'), { code: 250, last: true, text: '' })
  assert.equal(parseReplyLine('250 '), { code: 250, last: true, text: '' })
})

for (const line of ['', 'hello', '25 ok', '2500 ok', '150 ok', '650 ok', '250ok', ' 250 ok'])
  test(`knows that ${JSON.stringify(line)} is no reply`, () => assert.is(parseReplyLine(line), undefined))

test('takes the enhanced status code off every line that repeats it', () => {
  const reply = replyOf(550, ['5.1.1 no such user', '5.1.1 ask postmaster'])
  assert.equal(reply, { code: 550, enhanced: '5.1.1', text: 'no such user ask postmaster' })
  assert.is(formatReply(reply), '550 5.1.1 no such user ask postmaster')
})

test('ignores an enhanced status code of another class than the reply', () => {
  assert.equal(replyOf(450, ['5.1.1 odd']), { code: 450, enhanced: null, text: '5.1.1 odd' })
})

test('does not take an address for a status code', () => {
  assert.is(replyOf(554, ['5.182.17.60 is listed']).enhanced, null)
})

test('cleans and bounds the text of foreign servers', () => {
  assert.is(cleanText('a\u0000b\u001b[31m\r\n c\u2028d'), 'a b [31m c d')
  assert.is(cleanText('x'.repeat(5000)).length, 2048)
})

test.run()
