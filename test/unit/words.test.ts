import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../kit/suite.ts'
import { type SourceText, WORDS_RULES } from '../kit/words.ts'

const test = suite('words')
const root = join(import.meta.dirname, '../..')
/** The rules themselves contain the names that they ban. */
const RULES = ['test/kit/words.ts', 'test/unit/words.test.ts']
const sources: SourceText[] = globSync('{src,test,bench,scripts,packaging}/**/*.{ts,tsx}', {
  cwd: root,
  exclude: ['**/node_modules'],
})
  .filter(file => !RULES.includes(file))
  .sort()
  .map(file => ({ file, text: readFileSync(join(root, file), 'utf8') }))

for (const { name, find } of WORDS_RULES) test(`words: ${name}`, () => assert.equal(find(sources), []))

const PLANTED: readonly SourceText[] = [
  { file: 'src/lib/a.ts', text: 'export interface LaneBook {}\nexport type Twice = 1\n' },
  { file: 'src/lib/b.ts', text: `/** ${'wide '.repeat(30)} */\nexport type Twice = 2\n` },
  { file: 'test/kit/d.ts', text: '/**\n * What the tests share.\n */\n' },
  { file: 'src/lib/c.ts', text: 'const MOST_WAITING = 3\nconst RETRY_DELAY = 3_000\n' },
  { file: 'src/lib/e.ts', text: "const kept = new Map() // what was given\nconst told = 'said'\n" },
]

for (const { name, find } of WORDS_RULES)
  test(`words: a planted violation is found: ${name}`, () => assert.is(find(PLANTED).length, 1))

test.run()
