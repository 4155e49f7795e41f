/** Parses CSV text into rows of cells (RFC 4180, with common deviations). */
import { finished } from 'node:stream/promises'
import { CsvError, parse } from 'csv-parse'
import { ImportFault } from './fault.ts'
import type { ImportText } from './text.ts'

/** Limits the size of a row, because an unclosed quote would turn the rest of the file into one cell. */
const ROW_BYTES_MAX = 256 * 1024
const TOO_LONG = 'begins a quoted cell that is not closed, or is far too long'

export interface ImportRecord {
  /** Row number as in spreadsheets; the header is row 1. */
  row: number
  cells: string[]
}

/**
 * Yields non-empty rows, the header first. Complete rows are yielded before more bytes are read.
 *
 * @throws ImportFault for invalid CSV, and the errors of the stream
 */
export async function* readRecords(text: ImportText): AsyncGenerator<ImportRecord> {
  let row = 0
  for await (const { rows, fault } of readPieces(text)) {
    for (const cells of rows) {
      row++
      if (cells.some(cell => cell.trim() !== '')) yield { row, cells }
    }
    if (fault !== undefined) throw new ImportFault(`row ${row + 1}`, `The row ${row + 1} ${fault}.`)
  }
}

/** Rows that a chunk of text completes, and the error at which the parser stopped. */
interface Piece {
  rows: string[][]
  /** Completes the sentence "The row …". */
  fault?: string
}

async function* readPieces({ delimiter, bytes }: ImportText): AsyncGenerator<Piece> {
  let rows: string[][] = []
  const parser = parse({
    delimiter,
    bom: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    // some programs write blanks beside quotes
    trim: delimiter !== '\t',
    max_record_size: ROW_BYTES_MAX,
    // collected here, because rows that a stream still buffers are lost when it fails
    on_record(cells: string[]) {
      rows.push(cells)
      return null
    },
  })
  const done = finished(parser.resume())
  const pieceOf = (fault: string | undefined): Piece => {
    const piece = { rows, ...(fault !== undefined && { fault }) }
    rows = []
    return piece
  }
  const after = async (work: Promise<unknown>): Promise<Piece> => {
    const fault = await work.then(
      () => undefined,
      (error: unknown) => error,
    )
    if (fault !== undefined && !(fault instanceof CsvError)) throw fault
    return pieceOf(fault && faultIn(fault))
  }
  done.catch(() => {}) // reports the result of each write and of the end
  try {
    let unendedBytes = 0
    for await (const chunk of bytes) {
      const piece = await after(
        new Promise<void>((resolve, reject) =>
          parser.write(chunk, error => (error ? reject(error) : resolve())),
        ),
      )
      unendedBytes = piece.rows.length > 0 ? 0 : unendedBytes + chunk.length
      yield piece
      // the parser limits the content of cells only, so a row of empty cells would have no limit
      if (unendedBytes > ROW_BYTES_MAX) yield pieceOf(TOO_LONG)
    }
    parser.end()
    yield after(done)
  } finally {
    parser.destroy()
  }
}

function faultIn({ code, message }: CsvError): string {
  return code === 'CSV_MAX_RECORD_SIZE' || code === 'CSV_QUOTE_NOT_CLOSED'
    ? TOO_LONG
    : `is no CSV (${message})`
}
