import * as assert from 'uvu/assert'
import {
  createIdSource,
  firstIdAt,
  idKey,
  idText,
  idTime,
  lastIdAt,
  parseWireId,
  sameId,
  wireId,
} from '../../../src/lib/ids.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/ids')
const now = Date.UTC(2026, 10, 21, 13, 0, 0, 123)

test('an id is a version 7 UUID that carries its time', () => {
  const id = createIdSource()(now)
  assert.match(idText(id), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.is(idTime(id), now)
})

test('ids ascend within a millisecond, past the counter, and when the clock steps back', () => {
  const next = createIdSource()
  const ids = Array.from({ length: 10_000 }, (_, i) => idText(next(i < 9_000 ? now : now - 60_000)))
  assert.equal(ids, [...ids].sort())
  assert.is(new Set(ids).size, ids.length)
})

test('the wire form and the bare form are read, a foreign prefix is not', () => {
  const id = createIdSource()(now)
  const wire = wireId('eml', id)
  assert.ok(sameId(parseWireId('eml', wire)!, id))
  assert.ok(sameId(parseWireId('eml', idText(id))!, id))
  for (const text of [wireId('dom', id), 'eml_', 'eml_1', `${wire}0`, wire.slice(1), '', '__proto__'])
    assert.is(parseWireId('eml', text), undefined)
})

test('the first and the last id of a millisecond enclose all of its ids, up to the end of time', () => {
  for (const at of [0, 1, 0xffff_ffff, 0x1_0000_0000, now, 2 ** 48 - 1]) {
    assert.equal([idTime(firstIdAt(at)), idTime(lastIdAt(at + 0.9))], [at, at])
    const id = createIdSource()(at)
    assert.is(idTime(id), at)
    assert.ok(Buffer.compare(firstIdAt(at), id) < 0 && Buffer.compare(id, lastIdAt(at)) < 0)
  }
  assert.is(idTime(firstIdAt(-5)), 0)
})

test('a key holds every byte of its id', () => {
  const id = Uint8Array.from({ length: 16 }, (_, i) => i * 17)
  assert.equal(Buffer.from(idKey(id), 'latin1'), Buffer.from(id))
  assert.is(idText(id), '00112233-4455-6677-8899-aabbccddeeff')
})

test.run()
