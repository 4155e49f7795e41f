import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { lastMade, readRecord, recordFailed, recordMade } from '../../../../src/store/backup/record.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('store/backup/record')

test('a failure lasts until a backup is made to the same folder', async t => {
  const { path } = await t.using(tempFolder())
  recordFailed(path, '/a', { at: 5, reason: 'the disk is full' })
  recordMade(path, '/b/20261128T003000Z', 6)
  assert.equal(readRecord(path), {
    made: { '/b': 6 },
    failed: { '/a': { at: 5, reason: 'the disk is full' } },
  })
  recordMade(path, '/a/20261128T013000Z', 7)
  assert.equal(readRecord(path), { made: { '/a': 7, '/b': 6 }, failed: {} })
  assert.equal(lastMade(readRecord(path)), { folder: '/a', at: 7 })
  assert.equal(readdirSync(path), ['backups.json'])
})

test('the record holds the newest twenty folders', async t => {
  const { path } = await t.using(tempFolder())
  for (let at = 0; at < 25; at++) recordMade(path, `/${at}/backup`, at)
  const { made } = readRecord(path)
  assert.is(Object.keys(made).length, 20)
  assert.equal([made['/4'], made['/24']], [undefined, 24])
})

for (const [what, text] of [
  ['is damaged', '{"made":'],
  ['has another form', '{"made":{"/a":"yesterday"},"failed":{}}'],
] as const)
  test(`a record that ${what} is written anew`, async t => {
    const { path } = await t.using(tempFolder())
    writeFileSync(join(path, 'backups.json'), text)
    assert.is(lastMade(readRecord(path)), undefined)
    recordMade(path, '/a/backup', 1)
    assert.equal(readRecord(path).made, { '/a': 1 })
  })

test.run()
