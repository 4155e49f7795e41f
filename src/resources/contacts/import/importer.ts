/**
 * Takes in files of contacts: read no faster than they are stored, in batches each of which is stored whole
 * with the report as it stands then. What comes in between, a cut connection or a row that is no CSV, ends
 * the import and not what is stored.
 */
import type { Clock } from '../../../lib/clock.ts'
import type { Id, IdSource } from '../../../lib/ids.ts'
import type { Run } from '../../../store/command.ts'
import type { ContactImportRow } from '../../../store/schema.ts'
import { KEYS_MAX } from '../limits.ts'
import { type Column, type ColumnMap, columnsOf, keysOf } from './columns.ts'
import type { ImportKey, importCommands, OnExisting } from './commands.ts'
import { ImportFault } from './fault.ts'
import { type ImportRecord, readRecords } from './records.ts'
import { type ImportRow, type RowError, readRow } from './row.ts'
import { openText } from './text.ts'

export interface ImportRequest {
  accountId: Id
  /** Or what finds or makes one, asked once the file is known to have a header that can be used. */
  audienceId: Id | (() => Promise<Id>)
  onExisting: OnExisting
  bytes: AsyncIterable<Uint8Array>
  /** Of the content type, if it names one. */
  charset: string | undefined
  /** What its columns are for; absent: what their names say. */
  columnMap?: ColumnMap | undefined
}

/**
 * Undefined when there is no such audience (any more).
 *
 * @throws ImportFault, and what reading the bytes throws; the import, if it had begun, says so too
 */
export type ImportContacts = (request: ImportRequest) => Promise<ContactImportRow | undefined>

interface ImporterOptions {
  run: Run<typeof importCommands>
  clock: Clock
  newId: IdSource
}

/** Stored together: others who write wait some 10 ms. */
const BATCH_ROWS = 200

export function createImporter({ run, clock, newId }: ImporterOptions): ImportContacts {
  const begin = async (key: ImportKey, keys: string[]): Promise<boolean> => {
    const begun = await run('beginImport', { ...key, keys, at: clock.now() })
    if (begun === 'too-many-keys') throw tooManyKeys()
    return begun === 'begun'
  }

  /** One batch is read while the one before is stored. False when the audience has gone. */
  const takeIn = async (
    key: ImportKey,
    columns: readonly Column[],
    records: AsyncIterable<ImportRecord>,
    onExisting: OnExisting,
  ): Promise<boolean> => {
    let storing: Promise<boolean> = Promise.resolve(true)
    const store = async (batch: Batch) => {
      if (!(await storing)) return false
      storing = run('importRows', { ...key, ...batch, onExisting, at: clock.now() })
      storing.catch(() => {}) // the next to wait for it is told
      return true
    }
    let batch: Batch = { rows: [], errors: [] }
    try {
      for await (const record of records) {
        const read = readRow(columns, record)
        if ('message' in read) batch.errors.push(read)
        else batch.rows.push(read)
        if (batch.rows.length + batch.errors.length < BATCH_ROWS) continue
        if (!(await store(batch))) return false
        batch = { rows: [], errors: [] }
      }
    } finally {
      await store(batch)
      await storing
    }
    return storing
  }

  const take = async (
    { accountId, audienceId, onExisting, columnMap }: ImportRequest,
    records: AsyncGenerator<ImportRecord>,
  ) => {
    const { value: header } = await records.next()
    if (!header) throw new ImportFault('header', 'The file is empty. Its first row must be the header row.')
    const columns = columnsOf(header.cells, columnMap)
    const keys = keysOf(columns)
    if (keys.length > KEYS_MAX) throw tooManyKeys()
    const place = typeof audienceId === 'function' ? await audienceId() : audienceId
    const key = { accountId, audienceId: place, id: newId(clock.now()) }
    if (!(await begin(key, keys))) return undefined
    const end = (state: ContactImportRow['state'], fault: string | null) =>
      run('endImport', { ...key, state, fault, at: clock.now() })
    try {
      if (!(await takeIn(key, columns, records, onExisting))) return undefined
    } catch (error) {
      if (!(error instanceof ImportFault)) {
        await end('interrupted', 'The upload was interrupted, or a row could not be stored.')
        throw error
      }
      const ended = await end('failed', error.message)
      throw new ImportFault(error.part, `${error.message} ${ended?.rowCount} rows before it were read.`)
    }
    return end('done', null)
  }

  return async request => {
    const records = readRecords(await openText(request.bytes, request.charset))
    try {
      return await take(request, records)
    } finally {
      await records.return(undefined)
    }
  }
}

function tooManyKeys(): ImportFault {
  const text = `The contacts of an audience may have at most ${KEYS_MAX} different properties; the header row exceeds that.`
  return new ImportFault('header', text)
}

interface Batch {
  rows: ImportRow[]
  errors: RowError[]
}
