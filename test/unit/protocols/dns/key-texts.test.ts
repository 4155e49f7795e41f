import * as assert from 'uvu/assert'
import { createKeyTexts } from '../../../../src/protocols/dns/key-texts.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/key-texts')
const TOKEN = 'abcdefghijklmnopqrstuvwxyz234567'

function setUp() {
  const clock = createManualClock()
  const requests: string[] = []
  const published = new Map([[TOKEN, 'v=DKIM1; p=AAAA']])
  const texts = createKeyTexts({
    clock,
    async find(token) {
      requests.push(token)
      return published.get(token)
    },
  })
  return { clock, requests, published, texts }
}

test('key cache: a key is looked up once in 10 s', async () => {
  const { clock, requests, published, texts } = setUp()
  assert.is(await texts.textOf(TOKEN), 'v=DKIM1; p=AAAA')
  published.set(TOKEN, 'v=DKIM1; p=')
  clock.advance(9_999)
  assert.is(texts.textOf(TOKEN), 'v=DKIM1; p=AAAA')
  assert.is(requests.length, 1)
  clock.advance(1)
  assert.is(await texts.textOf(TOKEN), 'v=DKIM1; p=')
})

test('key cache: a missing key is cached, too', async () => {
  const { requests, texts } = setUp()
  const none = 'b'.repeat(32)
  assert.is(await texts.textOf(none), undefined)
  assert.is(texts.textOf(none), undefined)
  assert.equal(requests, [none])
})

test('key cache: a label that is not a token is not looked up', () => {
  const { requests, texts } = setUp()
  for (const name of ['', 'www', TOKEN.slice(1), `${TOKEN}a`, TOKEN.replace('a', '1'), `${TOKEN}\\000`])
    assert.is(texts.textOf(name), undefined)
  assert.equal(requests, [])
})

test('key cache: a look-up in progress when keys change is not cached', async () => {
  const { requests, published, texts } = setUp()
  const early = texts.textOf(TOKEN)
  published.set(TOKEN, 'v=DKIM1; p=')
  texts.forget()
  assert.is(await early, 'v=DKIM1; p=AAAA')
  assert.is(await texts.textOf(TOKEN), 'v=DKIM1; p=')
  assert.is(requests.length, 2)
})

test('key cache: a flood of tokens does not grow the cache', async () => {
  const { requests, texts } = setUp()
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
  assert.is(requests.length, 20_002)
})

test.run()
