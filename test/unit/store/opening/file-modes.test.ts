import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { accessAdvice, filesForOthers, tightenFiles } from '../../../../src/store/opening/file-modes.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('store/file-modes')
const own = process.getuid!()

test('access advice: the owner needs another mode, and anybody else another owner', async t => {
  const { path } = await t.using(tempFolder())
  const file = join(path, 'lock')
  writeFileSync(file, '')
  assert.match(accessAdvice(path, own), `run \`chmod u+rwx ${path}\``)
  assert.match(accessAdvice(file, own), `run \`chmod u+rw ${file}\``)
  for (const place of [path, file])
    assert.is(accessAdvice(place, own + 1), "make the service's user its owner")
})

test('file modes: others lose access to the folder of snapshots beside the database', async t => {
  const { path } = await t.using(tempFolder())
  const snapshots = join(path, 'snapshots')
  mkdirSync(snapshots, { mode: 0o755 })
  const files = { dataDir: path, blobFolder: join(path, 'blobs'), databaseFile: join(path, 'mailhorn.db') }
  tightenFiles(files)
  assert.is(statSync(snapshots).mode & 0o777, 0o700)
  assert.equal(filesForOthers(files), [])
})

test.run()
