import * as assert from 'uvu/assert'
import { retryHintMs } from '../../../../src/protocols/bounces/hint.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('reports/hint')
const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

for (const [text, expected] of [
  ['Greylisted, please try again in 5 minutes', 5 * MINUTE_MS],
  ['Please come back in 300 s', 300 * SECOND_MS],
  ['Greylisting in action, please come back in 00:05:00', 5 * MINUTE_MS],
  ['retry after 01:30:15', HOUR_MS + 30 * MINUTE_MS + 15 * SECOND_MS],
  ['Greylisted for 60 seconds', MINUTE_MS],
  ['Try again after 10min', 10 * MINUTE_MS],
  ['wait 90 sec. before you retry', 90 * SECOND_MS],
  ['please wait for 2 hours', 2 * HOUR_MS],
  ['retry-after: 120', 120 * SECOND_MS],
  ['Retry_after=45', 45 * SECOND_MS],
  ['Bitte in 5 Minuten erneut versuchen', 5 * MINUTE_MS],
  ['Bitte versuchen Sie es in 10 Minuten wieder', 10 * MINUTE_MS],
  ['erneut in 2 Stunden', 2 * HOUR_MS],
  ['Veuillez réessayer dans 5 minutes', 5 * MINUTE_MS],
  ['intente de nuevo en 10 minutos', 10 * MINUTE_MS],
  ['tente novamente em 5 minutos', 5 * MINUTE_MS],
  ['riprovare tra 5 minuti', 5 * MINUTE_MS],
  ['повторите через 15 минут', 15 * MINUTE_MS],
  ['повторите через 1 час', HOUR_MS],
  ['spróbuj ponownie za 5 minut', 5 * MINUTE_MS],
  ['5分後に再送してください', 5 * MINUTE_MS],
  ['请90秒后重试', 90 * SECOND_MS],
  ['请2小时后重试', 2 * HOUR_MS],
] as const)
  test(`${text}: ${expected / SECOND_MS} s`, () => assert.is(retryHintMs(text), expected))

for (const [text, expected] of [
  ['try again in 1 second', 30 * SECOND_MS],
  ['try again in 0 minutes', 30 * SECOND_MS],
  ['come back in 99999 hours', 4 * HOUR_MS],
  ['retry after 23:59:59', 4 * HOUR_MS],
] as const)
  test(`${text}: kept within 30 s and 4 h`, () => assert.is(retryHintMs(text), expected))

for (const text of [
  'try again later',
  'too many connections',
  'no more than 100 messages in 60 minutes, try again later',
  'try again: more than 100 messages in 60 minutes',
  'try again, 20 connections per 5 minutes are enough',
  'try again from 192.0.2.10 soon',
  'try again, said 10.20.30.5 minutes ago',
  'retry 550 5.7.1 mail',
  'you sent 300 s of something',
  '',
])
  test(`${text || 'no text'}: no hint`, () => assert.is(retryHintMs(text), undefined))

test('the first 512 characters are looked at, and no more', () => {
  const hint = 'try again in 5 minutes'
  assert.is(retryHintMs(' '.repeat(512 - hint.length) + hint), 5 * MINUTE_MS)
  assert.is(retryHintMs(' '.repeat(512) + hint), undefined)
})

test.run()
