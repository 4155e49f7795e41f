/**
 * From the text of a file of contacts to its rows, each a list of cells (RFC 4180, and what programs make of
 * it).
 */
import { finished } from 'node:stream/promises'
import { CsvError, parse } from 'csv-parse'
import { ImportFault } from './fault.ts'
import type { ImportText } from './text.ts'

/** A quote that is never closed would take the rest of the file for one cell. */
const ROW_BYTES_MAX = 256 * 1024
const TOO_LONG = 'begins a quoted cell that is not closed, or is far too long'

export interface ImportRecord {
  /** As spreadsheets number it: the header is row 1. */
  row: number
  cells: string[]
}

/**
 * Rows that hold something, the header first. What has come is given before more is read.
 *
 * @throws ImportFault where the text is no CSV, and what reading the bytes throws
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

/** Rows that a chunk of the text completes, and the error at which the parser stopped. */
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
    max_record_size: ROW_BYTES_MAX,
    // taken here, since those that a stream still holds are lost when it fails
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
  done.catch(() => {}) // each write is told, and the end
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
      // the parser counts what cells hold: a row of empty ones would never end
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
