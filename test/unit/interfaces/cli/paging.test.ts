import * as assert from 'uvu/assert'
import { cliPageOf, more } from '../../../../src/interfaces/cli/paging.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('cli/paging')

test('paging: the requested page, by default the first', () => {
  assert.equal(cliPageOf({}, 50), { limit: 50, offset: 0 })
  assert.equal(cliPageOf({ limit: '10', offset: '30' }, 50), { limit: 10, offset: 30 })
})

for (const values of [
  { limit: '0' },
  { limit: 'all' },
  { limit: '-1' },
  { offset: '1.5' },
  { offset: '9999999' },
])
  test(`paging: ${JSON.stringify(values)} is refused`, () => {
    assert.throws(() => cliPageOf(values, 50), /--(limit|offset) must be an integer/)
  })

test('paging: a partial page says how to see more', () => {
  assert.is(more({ limit: 50, offset: 0 }, 3, 3), undefined)
  assert.is(more({ limit: 2, offset: 2 }, 2, 5), 'Showing 3 to 4 of 5; use --offset 4 to show more.')
  assert.is(more({ limit: 2, offset: 4 }, 1, 5), undefined)
  assert.is(more({ limit: 2, offset: 8 }, 0, 5), 'There are only 5.')
})

test.run()
