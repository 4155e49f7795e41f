import * as assert from 'uvu/assert'
import { createIdSource } from '../../../src/lib/ids.ts'
import type { EmailSource } from '../../../src/resources/emails/email-source.ts'
import { createRecentEmails } from '../../../src/store/model/recent.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/recent')
const newId = createIdSource()

function email(text: string, recipientCount = 1): EmailSource {
  return { subject: 'Hello', recipientCount, content: { html: null, text } } as EmailSource
}

test('recent emails: an email is returned for each of its deliveries, then dropped', () => {
  const recent = createRecentEmails()
  const [id, source] = [newId(0), email('Hello', 2)]
  recent.put(id, source)
  assert.equal([recent.take(id), recent.take(id), recent.take(id)], [source, source, undefined])
})

test('recent emails: unknown and large emails are not returned', () => {
  const recent = createRecentEmails()
  const large = newId(0)
  recent.put(large, email('x'.repeat(65_537)))
  assert.equal([recent.take(newId(0)), recent.take(large)], [undefined, undefined])
})

test('recent emails: a full cache accepts no new email until old ones are taken', () => {
  const recent = createRecentEmails()
  const ids = Array.from({ length: 257 }, (_, at) => newId(at))
  for (const id of ids) recent.put(id, email('x'.repeat(65_536)))
  assert.is(recent.take(ids[256]!), undefined)
  assert.ok(recent.take(ids[0]!))
  recent.put(ids[256]!, email('y'.repeat(65_536)))
  assert.ok(recent.take(ids[256]!))
})

test('recent emails: emails are dropped after ten seconds, by dropStale or by the next put', () => {
  for (const next of ['nothing', 'put'] as const) {
    let now = 0
    const recent = createRecentEmails(() => now)
    const ids = [newId(0), newId(1), newId(2)]
    recent.put(ids[0]!, email('first'))
    now = 1
    recent.put(ids[1]!, email('second'))
    now = 10_000
    if (next === 'put') recent.put(ids[2]!, email('third'))
    else recent.dropStale()
    assert.equal(
      ids.slice(0, 2).map(id => recent.take(id)?.content.text),
      [undefined, 'second'],
    )
  }
})

test('recent emails: dropping old emails makes room in a full cache', () => {
  let now = 0
  const recent = createRecentEmails(() => now)
  const ids = Array.from({ length: 257 }, (_, at) => newId(at))
  for (const id of ids.slice(0, 128)) recent.put(id, email('x'.repeat(65_536)))
  now = 9_999
  for (const id of ids.slice(128, 256)) recent.put(id, email('x'.repeat(65_536)))
  now = 10_000
  recent.put(ids[256]!, email('x'.repeat(65_536)))
  assert.equal(
    [0, 127, 128, 256].map(i => recent.take(ids[i]!) !== undefined),
    [false, false, true, true],
  )
})

test('recent emails: an email that is put again replaces itself', () => {
  const recent = createRecentEmails()
  const id = newId(0)
  recent.put(id, email('first'))
  recent.put(id, email('second'))
  assert.equal([recent.take(id)?.content.text, recent.take(id)], ['second', undefined])
})

test.run()
