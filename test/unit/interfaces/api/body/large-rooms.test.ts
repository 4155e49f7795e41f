import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import { createLargeBodies } from '../../../../../src/interfaces/api/body/large-bodies.ts'
import { largeInput } from '../../../../kit/large-input.ts'
import { createManualClock, settled } from '../../../../kit/manual-clock.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http: memory of large bodies')
const BODY_BYTES_MAX = 56 * 1024 * 1024

const notParsed = { run: () => Promise.reject(new Error('nothing is parsed here')) }

/** Asks for memory for as many of the largest bodies. @returns how many got it, and were refused */
async function ask(count: number, ownerOf: (i: number) => string) {
  const clock = createManualClock()
  const large = createLargeBodies(notParsed, largeInput({ bytes: 4 * BODY_BYTES_MAX, clock }))
  const requests = { entered: 0, refused: 0 }
  for (let i = 0; i < count; i++)
    large.enter(ownerOf(i), BODY_BYTES_MAX).then(
      () => requests.entered++,
      error => {
        assert.instance(error, ApiError)
        assert.is((error as ApiError).status, 503)
        assert.is((error as ApiError).headers?.['retry-after'], '5')
        requests.refused++
      },
    )
  await settled()
  return { clock, requests }
}

test('ten times the memory of large bodies for one account: two have it, 50 wait, the others are refused', async () => {
  const { requests } = await ask(520, () => 'eve')
  assert.equal(requests, { entered: 2, refused: 468 })
})

test('ten times the memory of large bodies: four have it, 200 wait, the others are refused', async () => {
  const { requests } = await ask(2_040, i => `account ${i}`)
  assert.equal(requests, { entered: 4, refused: 1_836 })
})

test('who waits for 30 s is refused', async () => {
  const { clock, requests } = await ask(10, i => `account ${i}`)
  clock.advance(29_999)
  await settled()
  assert.equal(requests, { entered: 4, refused: 0 })
  clock.advance(1)
  await settled()
  assert.equal(requests, { entered: 4, refused: 6 })
})

test.run()
