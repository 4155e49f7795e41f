import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { suite } from '../../../kit/suite.ts'

const test = suite('contacts: hostile files')
const MIB = 1024 * 1024
const SIZE_BYTES = MIB / 2
/** The cells of such a file, held together, would not fit. */
const HEAP_MIB = 40

const SHAPES: Record<string, string> = {
  'one row of empty cells': ',',
  'a quote that is never closed': '"a\n',
  'one line of text': 'abcdefgh',
}

/**
 * Reads the file in a thread with a small heap. @returns the number of rows, or why it is no file of contacts
 */
async function read(piece: string, charset?: string): Promise<{ rows: number; fault: string | null }> {
  const worker = new Worker(new URL('./import-reader.ts', import.meta.url), {
    workerData: { piece, sizeBytes: SIZE_BYTES, charset },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: 16 },
  })
  const [result] = await once(worker, 'message')
  await worker.terminate()
  return result
}

for (const [what, piece] of Object.entries(SHAPES))
  test(`much of ${what} does not fill a heap of ${HEAP_MIB} MiB`, async () => {
    const { rows, fault } = await read(piece)
    assert.ok(fault !== null || rows > 0)
  })

test(`much in UTF-16 does not fill a heap of ${HEAP_MIB} MiB`, async () => {
  const { fault } = await read('a,', 'utf-16le')
  assert.not(fault?.includes('charset'))
})

test.run()
