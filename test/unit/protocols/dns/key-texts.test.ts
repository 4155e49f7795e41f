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

test('a key is looked up once in ten seconds, and then known at once', async () => {
  const { clock, asked, published, texts } = given()
  assert.is(await texts.textOf(TOKEN), 'v=DKIM1; p=AAAA')
  published.set(TOKEN, 'v=DKIM1; p=')
  clock.advance(9_999)
  assert.is(texts.textOf(TOKEN), 'v=DKIM1; p=AAAA')
  assert.is(asked.length, 1)
  clock.advance(1)
  assert.is(await texts.textOf(TOKEN), 'v=DKIM1; p=')
})

test('that there is none is known as well', async () => {
  const { asked, texts } = given()
  const none = 'b'.repeat(32)
  assert.is(await texts.textOf(none), undefined)
  assert.is(texts.textOf(none), undefined)
  assert.equal(asked, [none])
})

test('what no token looks like is not looked for', () => {
  const { asked, texts } = given()
  for (const name of ['', 'www', TOKEN.slice(1), `${TOKEN}a`, TOKEN.replace('a', '1'), `${TOKEN}\\000`])
    assert.is(texts.textOf(name), undefined)
  assert.equal(asked, [])
})

test('when keys change nothing is believed that was read before, not even a moment before', async () => {
  const { asked, published, texts } = given()
  const early = texts.textOf(TOKEN)
  published.set(TOKEN, 'v=DKIM1; p=')
  texts.forget()
  assert.is(await early, 'v=DKIM1; p=AAAA')
  assert.is(await texts.textOf(TOKEN), 'v=DKIM1; p=')
  assert.is(asked.length, 2)
})

test('a flood of tokens takes the place of what is kept, and no more memory', async () => {
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
