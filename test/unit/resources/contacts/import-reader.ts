/** Reads a made-up file of contacts to its end, or to its fault, and tells what was found. */
import { parentPort, workerData } from 'node:worker_threads'
import { ImportFault } from '../../../../src/resources/contacts/import/fault.ts'
import { readRecords } from '../../../../src/resources/contacts/import/records.ts'
import { openText } from '../../../../src/resources/contacts/import/text.ts'

const CHUNK_BYTES = 64 * 1024
const { piece, sizeBytes, charset } = workerData as {
  piece: string
  sizeBytes: number
  charset: string | undefined
}

async function* file() {
  yield Buffer.from('email,name\n')
  const chunk = Buffer.from(piece.repeat(Math.ceil(CHUNK_BYTES / piece.length)), 'latin1')
  for (let at = 0; at < sizeBytes; at += chunk.length) yield chunk
}

let rows = 0
let fault: string | null = null
try {
  for await (const _ of readRecords(await openText(file(), charset))) rows += 1
} catch (error) {
  if (!(error instanceof ImportFault)) throw error
  fault = error.message
}
parentPort!.postMessage({ rows, fault })
