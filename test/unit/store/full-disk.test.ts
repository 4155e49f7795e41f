import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { openThreadStore, tempFolder } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'
import type { ScriptedCommands } from './scripted-writer.ts'

const test = suite('store/full-disk')

/** Maximum size of a file, in blocks of 512 octets: 1.7 MB. */
const LIMIT_BLOCKS = 3_400

test('full disk: writes that do not fit are refused, also during a checkpoint, and nothing is lost', async t => {
  const folder = await t.using(tempFolder())
  const script = fileURLToPath(new URL('./narrow-disk.ts', import.meta.url))
  const child = spawn(
    'sh',
    ['-c', `ulimit -f ${LIMIT_BLOCKS} && exec "$@"`, 'sh', process.execPath, script, folder.path],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  t.after(() => child.kill('SIGKILL'))
  assert.equal(JSON.parse(await text(child.stdout)), {
    puts: ['stored', 'stored', 'StorageUnavailable'],
    keys: ['first', 'second'],
    deaths: [],
  })
  const roomy = await t.using(
    openThreadStore<ScriptedCommands>({
      folder: folder.path,
      writerThread: new URL('./scripted-writer.ts', import.meta.url),
    }),
  )
  await roomy.run('putSetting', { key: 'third', value: '' })
  assert.is((await roomy.db.selectFrom('settings').selectAll().execute()).length, 3)
})

test.run()
