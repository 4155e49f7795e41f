import * as assert from 'uvu/assert'
import { COMMENT_VALUES, NOT_SENT, valuesOfNodeComments } from '../../kit/sdk/comment-values.ts'
import { assertDocumented, row } from '../../kit/sdk/page.ts'
import { openSdkWorld } from '../../kit/sdk/world.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('values in the comments of the SDKs')
/** Names of fields in the Node package that the API spells otherwise. */
const API_NAMES: Record<string, string> = { batchValidation: 'x-batch-validation' }

test('those of the newest Node package are tried, each of them', () => {
  const found = valuesOfNodeComments().filter(pair => !NOT_SENT.some(pattern => pattern.test(pair)))
  const tried = new Set(COMMENT_VALUES.map(({ field, value }) => `${field}: ${value}`))
  const inApiWords = found.map(pair => {
    const [name = '', ...value] = pair.split(': ')
    return `${API_NAMES[name] ?? name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)}: ${value.join(': ')}`
  })
  assert.ok(inApiWords.includes('scheduled_at: in 2 days'), inApiWords.join('\n'))
  assert.equal(
    inApiWords.filter(pair => !tried.has(pair)),
    [],
  )
})

test('docs/sdks.md says of each whether it works', async t => {
  const world = await openSdkWorld(t)
  const rows: string[] = []
  for (const { field, value, languages, call } of COMMENT_VALUES) {
    const { status, body } = await call(world)
    const warnings = (body.warnings ?? []).map(({ message }) => message)
    const result = status < 300 ? (warnings.length > 0 ? 'in part' : 'works') : 'refused'
    const note = world.plain(status < 300 ? warnings.join(' ') : `${status} ${body.message}`)
    rows.push(row(`\`${field}\``, `\`${value}\``, languages, result, note))
  }
  const head = [
    row('field', 'value', 'SDKs', 'result', 'what is refused or not honoured'),
    '|---|---|---|---|---|',
  ]
  assertDocumented('values in the comments', [...head, ...rows].join('\n'))
})

test.run()
