/** Replies with exported files, which are read batch by batch while the client takes them. */
import type { RawHttpReply } from './route.ts'

const TYPES = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json; charset=utf-8',
}

/** Returns a reply that browsers save as a file. */
export function exportReply(
  name: string,
  type: keyof typeof TYPES,
  content: AsyncIterable<Uint8Array>,
): RawHttpReply {
  const headers = {
    'content-type': TYPES[type],
    'content-disposition': `attachment; filename="${name}.${type}"`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  }
  return { status: 200, headers, content }
}

interface CsvBatch<M> {
  /** Complete lines; empty if the batch has no rows. */
  csv: string | Uint8Array
  /** Mark after which the next batch begins; null after the last one. */
  next: M | null
}

/**
 * Joins the batches of a CSV file.
 * @param first read before the reply begins, so that an error is still answered with its status
 */
export async function* csvFile<M>(
  header: string,
  first: CsvBatch<M>,
  batchAfter: (mark: M) => Promise<CsvBatch<M>>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(header)
  for (let batch = first; ; batch = await batchAfter(batch.next)) {
    const { csv } = batch
    if (csv.length > 0) yield typeof csv === 'string' ? Buffer.from(csv) : csv
    if (batch.next === null) return
  }
}
