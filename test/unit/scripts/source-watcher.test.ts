import { EventEmitter, once } from 'node:events'
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { watchSources } from '../../../scripts/source-watcher.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('source watcher')

/** A watched folder `src` with one file, and a way to wait for the files of the next report. */
async function watched(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'watcher-'))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'src/deep'), { recursive: true })
  writeFileSync(join(root, 'src/deep/a.ts'), '1')
  const reports = new EventEmitter()
  await t.using(watchSources(root, ['src'], files => void reports.emit('files', files)))
  return {
    root,
    async filesAfter(change: () => void): Promise<string[]> {
      const reported = once(reports, 'files')
      change()
      return (await reported)[0]
    },
  }
}

test('a changed file is reported by its path from the root', async t => {
  const { root, filesAfter } = await watched(t)
  assert.equal(await filesAfter(() => appendFileSync(join(root, 'src/deep/a.ts'), '2')), ['src/deep/a.ts'])
})

test('a file that was replaced by renaming is still watched', async t => {
  const { root, filesAfter } = await watched(t)
  const file = join(root, 'src/deep/a.ts')
  const replace = () => {
    writeFileSync(`${file}~`, '3')
    renameSync(`${file}~`, file)
  }
  assert.equal(await filesAfter(replace), ['src/deep/a.ts'])
  assert.equal(await filesAfter(replace), ['src/deep/a.ts'])
  assert.equal(await filesAfter(() => appendFileSync(file, '4')), ['src/deep/a.ts'])
})

test('a new folder is reported with its files and watched from then on', async t => {
  const { root, filesAfter } = await watched(t)
  const file = join(root, 'src/new/b.ts')
  const add = () => {
    mkdirSync(join(root, 'src/new'))
    writeFileSync(file, '1')
  }
  assert.equal(await filesAfter(add), ['src/new/b.ts'])
  assert.equal(await filesAfter(() => appendFileSync(file, '2')), ['src/new/b.ts'])
})

test.run()
