import * as assert from 'uvu/assert'
import { createKeyTexts } from '../../../../src/protocols/dns/key-texts.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/key-texts')
const TOKEN = 'abcdefghijklmnopqrstuvwxyz234567'

function given() {
  const clock = createManualClock()
  const asked: string[] = []
  const published = new Map([[TOKEN, 'v=DKIM1; p=AAAA']])
  const texts = createKeyTexts({
    clock,
    async find(token) {
      asked.push(token)
      return published.get(token)
    },
  })
  return { clock, asked, published, texts }
}

test('key cache: a key is looked up once in 10 s', async () => {
  const { clock, asked, published, texts } = given()
  assert.is(await texts.textOf(TOKEN), 'v=DKIM1; p=AAAA')
  published.set(TOKEN, 'v=DKIM1; p=')
  clock.advance(9_999)
  assert.is(texts.textOf(TOKEN), 'v=DKIM1; p=AAAA')
  assert.is(asked.length, 1)
  clock.advance(1)
  assert.is(await texts.textOf(TOKEN), 'v=DKIM1; p=')
})

test('key cache: a missing key is cached, too', async () => {
  const { asked, texts } = given()
  const none = 'b'.repeat(32)
  assert.is(await texts.textOf(none), undefined)
  assert.is(texts.textOf(none), undefined)
  assert.equal(asked, [none])
})

test('key cache: a label that is not a token is not looked up', () => {
  const { asked, texts } = given()
  for (const name of ['', 'www', TOKEN.slice(1), `${TOKEN}a`, TOKEN.replace('a', '1'), `${TOKEN}\\000`])
    assert.is(texts.textOf(name), undefined)
  assert.equal(asked, [])
})

test('key cache: a look-up in progress when keys change is not cached', async () => {
  const { asked, published, texts } = given()
  const early = texts.textOf(TOKEN)
  published.set(TOKEN, 'v=DKIM1; p=')
  texts.forget()
  assert.is(await early, 'v=DKIM1; p=AAAA')
  assert.is(await texts.textOf(TOKEN), 'v=DKIM1; p=')
  assert.is(asked.length, 2)
})

test('key cache: a flood of tokens does not grow the cache', async () => {
  const { asked, texts } = given()
  const digits: Record<string, string> = { 0: 'w', 1: 'x', 8: 'y', 9: 'z' }
  const token = (i: number) =>
    i
      .toString(32)
      .replace(/[0189]/g, digit => digits[digit]!)
      .padStart(32, 'w')
  await texts.textOf(TOKEN)
  for (let i = 0; i < 19_999; i++) await texts.textOf(token(i))
  assert.is(texts.textOf(TOKEN), 'v=DKIM1; p=AAAA')
  await texts.textOf(token(19_999))
  await texts.textOf(TOKEN)
  assert.is(asked.length, 20_002)
})

test.run()
