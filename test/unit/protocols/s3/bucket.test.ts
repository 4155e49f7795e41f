import * as assert from 'uvu/assert'
import { partBytesFor } from '../../../../src/protocols/s3/bucket.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('parts of a file for S3')
const MIB = 1024 * 1024
const GIB = 1024 * MIB

for (const [what, size, partsMax, bytesMax] of [
  ['8 GB', 8e9, 1_000, 8 * MIB],
  ['30 GiB', 30 * GIB, 1_000, 31 * MIB],
  ['62 GiB', 62 * GIB, 1_000, 64 * MIB],
  ['500 GiB', 500 * GIB, 9_000, 64 * MIB],
  ['5 TiB', 5 * 1024 * GIB, 9_000, 600 * MIB],
] as const)
  test(`${what} are sent in at most ${partsMax} parts of at most ${bytesMax / MIB} MiB`, () => {
    const part = partBytesFor(size)
    assert.ok(Math.ceil(size / part) <= partsMax, `${Math.ceil(size / part)} parts`)
    assert.ok(part >= 8 * MIB && part <= bytesMax, `${part} bytes`)
  })

test.run()
