import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../kit/suite.ts'

const test = suite('docs/standards.md')
const root = join(import.meta.dirname, '../..')

const rows = readFileSync(join(root, 'docs/standards.md'), 'utf8')
  .split('\n')
  .filter(line => /^\| \d/.test(line))
const listed = new Set(rows.flatMap(line => line.split('|')[1]!.match(/\d{3,5}/g)!))
const cited = new Map<string, string>()
for (const name of globSync('src/**/*.ts', { cwd: root }))
  for (const [, number] of readFileSync(join(root, name), 'utf8').matchAll(/RFC (\d{3,5})/g))
    cited.set(number!, name)

test('every RFC cited in src is listed', () => {
  assert.equal(
    [...cited].filter(([number]) => !listed.has(number)),
    [],
  )
})

test('every RFC listed is cited in src', () => {
  assert.equal(
    [...listed].filter(number => !cited.has(number)),
    [],
  )
})

test('every file and folder that the page names is there', () => {
  const named = rows.flatMap(line => [...line.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path!))
  assert.equal(
    named.filter(path => !existsSync(join(root, path))),
    [],
  )
})

test.run()
