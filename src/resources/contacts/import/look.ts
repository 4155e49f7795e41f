/** Looks at the beginning of a contact file, so that a person sees its columns before anything is stored. */
import { type Column, suggestedColumns } from './columns.ts'
import { emptyFile } from './fault.ts'
import { type ImportRecord, readRecords } from './records.ts'
import { cellText } from './row.ts'
import { openText } from './text.ts'

interface SeenColumn {
  name: string
  /** What the column is taken for by its name. */
  column: Column
}

export interface FileLook {
  columns: SeenColumn[]
  /** The first rows after the header, with the text of their cells. */
  rows: ImportRecord[]
}

const ROWS_SHOWN = 5

/**
 * Reads the header and a few rows. Columns without a known name are not examined.
 *
 * @param bytes the file, or its beginning
 * @param charset charset of the content type, if any
 * @throws ImportFault for a header or a row that cannot be read
 */
export async function lookAtFile(
  bytes: AsyncIterable<Uint8Array>,
  charset: string | undefined,
): Promise<FileLook> {
  const records = readRecords(await openText(bytes, charset))
  try {
    const { value: header } = await records.next()
    if (!header) throw emptyFile()
    const columns = suggestedColumns(header.cells)
    const rows: ImportRecord[] = []
    while (rows.length < ROWS_SHOWN) {
      const { value } = await records.next()
      if (!value) break
      rows.push({ row: value.row, cells: columns.map((_, i) => cellText(value.cells[i] ?? '')) })
    }
    return { columns, rows }
  } finally {
    await records.return(undefined)
  }
}
