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

test('docs/configuration.md: each setting is in the table of its group', () => {
  const [contents, ...groups] = configurationPage(root).split('\n## ')
  assert.match(contents!, '[HTTP and API](#http-and-api)')
  const groupWith = (key: string) =>
    groups.filter(group => group.includes(`| \`${key}\` |`)).map(group => group.split('\n')[0])
  assert.equal(groupWith('mail_host'), ['Installation'])
  assert.equal(groupWith('smtp.tls.cert_file'), ['SMTP listeners'])
  assert.equal(groupWith('regions.us-west-2.feedback'), ['DNS and domains'])
  assert.ok(
    groups.every(group => group.includes('\n| `')),
    'no group is empty',
  )
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
