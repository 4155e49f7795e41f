import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import { createLargeBodies } from '../../../../../src/interfaces/api/body/large-bodies.ts'
import { settled } from '../../../../kit/manual-clock.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http: memory of large bodies')
const BODY_BYTES_MAX = 56 * 1024 * 1024

/** Asks for memory for as many of the largest bodies. @returns how many got it, and were refused */
async function ask(count: number, ownerOf: (i: number) => string) {
  const large = createLargeBodies({ run: () => Promise.reject(new Error('nothing is parsed here')) })
  const requests = { entered: 0, refused: 0 }
  for (let i = 0; i < count; i++)
    large.enter(ownerOf(i), BODY_BYTES_MAX).then(
      () => requests.entered++,
      error => {
        assert.instance(error, ApiError)
        assert.is((error as ApiError).status, 503)
        requests.refused++
      },
    )
  await settled()
  return requests
}

test('ten times the memory of large bodies for one account: two have it, 50 wait, the others are refused', async () => {
  assert.equal(await ask(520, () => 'eve'), { entered: 2, refused: 468 })
})

test('ten times the memory of large bodies: four have it, 200 wait, the others are refused', async () => {
  assert.equal(await ask(2_040, i => `account ${i}`), { entered: 4, refused: 1_836 })
})

test.run()
