import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { closeLog } from '../../../../src/store/sqlite/copy.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('store/sqlite/copy')

test('closing the log of a database that is missing fails, and creates none', async t => {
  const { path } = await t.using(tempFolder())
  const file = join(path, 'missing.db')
  assert.throws(() => closeLog(file), /unable to open database file/)
  assert.not(existsSync(file))
})

test.run()
