import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { configurationPage } from '../../../src/config/page.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('docs/configuration.md')
const root = join(import.meta.dirname, '../../..')

test('docs/configuration.md: it matches the schema (run `npm run docs` if it does not)', () => {
  assert.fixture(readFileSync(join(root, 'docs/configuration.md'), 'utf8'), configurationPage(root))
})

test('docs/configuration.md: settings that scripts rely on are listed', () => {
  const page = configurationPage(root)
  for (const key of [
    'data_dir',
    'http.listen',
    'dns.verify_resolvers',
    'regions.us-west-2.feedback',
    'plans.free.daily',
  ])
    assert.ok(page.includes(`| \`${key}\` |`), key)
  assert.ok(page.includes('`MAILHORN_REGIONS_US_WEST_2_FEEDBACK`'))
})

test.run()
