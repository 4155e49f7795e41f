import * as assert from 'uvu/assert'
import { readReplyText } from '../../../../../src/protocols/bounces/sentence/reading.ts'
import { suite } from '../../../../kit/suite.ts'
import { readLine } from '../replies.ts'

const test = suite('reports/reading')
const read = (line: string) => readReplyText({ phase: 'rcpt', ...readLine(line) })

for (const [line, status, contradicts] of [
  ['550 5.1.1 no', '1.1', false],
  ['550 #5.1.0 Address rejected', '1.0', false],
  ['550 5.7.509: no', '7.509', false],
  ['550 no (#5.1.1)', '1.1', false],
  ['550 no (#5.1.1 - chkuser)', '1.1', false],
  ['550 no (5.2.2)', '2.2', false],
  ['550 host there said: 550 5.1.1 no', '1.1', false],
  ['550 host there said: 550-5.1.1 no', '1.1', false],
  ['550 4.2.2 full', '2.2', true],
  ['450 5.1.1 no', '1.1', true],
  ['550 2.1.1 no', '1.1', true],
] as const)
  test(`${line}: status ${status}`, () => {
    const reading = read(line)
    assert.equal([reading.status, reading.contradicts], [status, contradicts])
  })

for (const line of [
  '550 no',
  '550 [5.1.1.1] no',
  '550 5.1.1.1 no',
  '550 mail from 5.7.1.2 refused',
  '550 (5.1.1.1) no',
  '550 connect to 5.182.17.60:25 failed',
  '550 version 5.1.1 of this',
  '550 a5.1.1',
])
  test(`${line}: no status`, () => {
    const reading = read(line)
    assert.equal([reading.status, reading.contradicts], [undefined, false])
  })

for (const [line, words] of [
  ['550 <no.such.user@there.test> is Full', 'is full'],
  ['550 "user unknown"@there.test refused', 'refused'],
  ['550 spam.there.test: no', 'no'],
  ['550 listed at zen.spamhaus.org.', 'listed at zen.spamhaus.org.'],
  ['550 Subject "mailbox full" refused', 'subject refused'],
  ['550 Größe überschritten', 'große uberschritten'],
  ['550 Этот ящик не найден', 'этот ящик не наиден'],
  ['550 メールボックス', 'メールボックス'],
  ['550 mta.here.test does not exist', 'name does not exist'],
  ['550 <a@b.test>: Recipient address rejected: No', 'restriction: no'],
] as const)
  test(`${line}: ${words}`, () => assert.is(read(line).words, words))

for (const [text, isNamed] of [
  ['there.test does not accept mail', true],
  ['<there.test>: no such domain', true],
  ['mail for There.Test. is refused', true],
  ['mx.there.test refused it', false],
  ['postmaster@there.test refused it', false],
  ['there.test.example refused it', false],
  ['there.test-mx refused it', false],
  ['mx.here.test refused it', false],
] as const)
  test(`550 ${text}: the recipient's domain is ${isNamed ? 'named' : 'not named'}`, () => {
    const facts = { recipient: 'ann@there.test', ours: [] }
    const { meansRecipientDomain } = readReplyText({ phase: 'rcpt', ...readLine(`550 ${text}`), facts })
    assert.is(meansRecipientDomain, isNamed)
  })

test('no more than 1,024 characters are looked at', () => {
  const { words } = readReplyText({
    ...{ phase: 'rcpt', code: 550, enhanced: null },
    text: 'a'.repeat(100_000),
  })
  assert.is(words.length, 1024)
})

test.run()
