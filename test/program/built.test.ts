import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { builtFile } from '../kit/built.ts'
import { suite } from '../kit/suite.ts'

const test = suite('program/built')

test('what users start is ASCII, so that no thread keeps its text with two bytes a character', () => {
  const folder = dirname(builtFile('main'))
  const files = readdirSync(folder).filter(name => name.endsWith('.js'))
  assert.ok(files.includes('main.js') && files.includes('delivery-thread.js'))
  const beyond = files.filter(name => readFileSync(join(folder, name)).some(byte => byte > 0x7f))
  assert.equal(beyond, [])
})

test.run()
