import * as assert from 'uvu/assert'
import examples from '../../../src/interfaces/api/openapi/examples.json' with { type: 'json' }
import { type RecordedExample, recordExamples } from '../../kit/openapi-examples.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('examples of the OpenAPI document')

const keysOf = (value: unknown) =>
  typeof value === 'object' && value !== null ? Object.keys(value).sort() : typeof value

const shapes = (recorded: Record<string, RecordedExample>) =>
  Object.entries(recorded).map(([id, { request, reply }]) => [id, keysOf(request), keysOf(reply)])

test('each operation answers as in its example (`npm run openapi` makes them)', async () => {
  assert.equal(shapes(await recordExamples()), shapes(examples))
})

test.run()
