/**
 * Imports a contact file. In: a stream of CSV bytes. Out: contacts in the store and a report. The stream is
 * read at the speed at which batches are stored, and each batch is committed with the report up to that
 * point. A lost connection or an invalid row ends the import and keeps what was stored. Called by the import
 * routes of the API.
 */
import type { Clock } from '../../../lib/clock.ts'
import type { Id, IdSource } from '../../../lib/ids.ts'
import { shortened } from '../../../lib/shortened.ts'
import type { Run } from '../../../store/model/command.ts'
import type { ContactImportRow } from '../../../store/model/schema.ts'
import type { TopicSubscription } from '../topic-commands.ts'
import { type Column, columnNotes, keysOf, QUESTIONED_NAME_MAX, tooManyKeys } from './columns.ts'
import { type ImportKey, type importCommands, type OnExisting, OPT_OUT, type RowConsent } from './commands.ts'
import { ImportFault } from './fault.ts'
import { type ImportRecord, readRecords } from './records.ts'
import { type ImportRow, type RowError, readRow } from './row.ts'
import type { ImportPlan } from './survey.ts'
import { openText } from './text.ts'

export interface ImportRequest {
  accountId: Id
  /**
   * Id of the audience, or a function that finds or creates one. The function is called once the header is
   * valid.
   */
  audienceId: Id | (() => Promise<Id>)
  onExisting: OnExisting
  /** Name of the file; null if the client has not named it. */
  fileName?: string | null
  /** Topics that the imported contacts are subscribed to or unsubscribed from; none by default. */
  subscriptions?: readonly TopicSubscription[]
  bytes: AsyncIterable<Uint8Array>
  /** Charset in the content type, if any. */
  charset: string | undefined
  /** What `surveyImport` has found in the same bytes. */
  plan: ImportPlan
}

/**
 * Resolves to undefined if the audience does not exist.
 *
 * @throws ImportFault, and the errors of the stream; the report of a started import records both
 */
export type ImportContacts = (request: ImportRequest) => Promise<ContactImportRow | undefined>

interface ImporterOptions {
  run: Run<typeof importCommands>
  clock: Clock
  newId: IdSource
}

/** Rows per transaction. Other writes wait about 10 ms for it. */
const BATCH_ROWS = 200

export function createImporter({ run, clock, newId }: ImporterOptions): ImportContacts {
  const begin = async (key: ImportKey, fileName: string | null, keys: string[]): Promise<boolean> => {
    const begun = await run('beginImport', { ...key, fileName, keys, at: clock.now() })
    if (begun === 'too-many-keys') throw tooManyKeys()
    return begun === 'begun'
  }

  const take = async (
    {
      accountId,
      audienceId,
      onExisting,
      fileName = null,
      subscriptions = [],
      plan: { columns },
    }: ImportRequest,
    records: AsyncGenerator<ImportRecord>,
  ) => {
    await records.next() // the header
    const keys = keysOf(columns)
    const place = typeof audienceId === 'function' ? await audienceId() : audienceId
    const key = { accountId, audienceId: place, id: newId(clock.now()) }
    if (!(await begin(key, fileName, keys))) return undefined
    const terms = { onExisting, subscriptions }
    const consent = new ConsentCounts()
    const end = (state: ContactImportRow['state'], fault: string | null) =>
      run('endImport', { ...key, state, fault, notes: consent.notes(), at: clock.now() })
    try {
      if (!(await takeIn({ run, clock }, { key, columns, terms, consent }, records))) return undefined
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

interface Intake {
  key: ImportKey
  columns: readonly Column[]
  terms: Pick<ImportRequest, 'onExisting' | 'subscriptions'>
  consent: ConsentCounts
}

/** Reads one batch while the previous one is stored. Resolves to false if the audience was deleted. */
async function takeIn(
  { run, clock }: Pick<ImporterOptions, 'run' | 'clock'>,
  { key, columns, terms, consent }: Intake,
  records: AsyncIterable<ImportRecord>,
): Promise<boolean> {
  let storing: Promise<boolean> = Promise.resolve(true)
  const store = async (batch: Batch) => {
    if (!(await storing)) return false
    storing = run('importRows', { ...key, ...batch, ...terms, at: clock.now() }).then(consents => {
      consent.add(consents ?? [])
      return consents !== undefined
    })
    storing.catch(() => {}) // the next await reports the error
    return true
  }
  let batch: Batch = { rows: [], errors: [], headerNotes: columnNotes(columns) }
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

interface Batch {
  rows: ImportRow[]
  errors: RowError[]
  headerNotes?: string[]
}

/** Counts what the imported rows say about leaving, for the notes of the report. */
class ConsentCounts {
  #left = 0
  readonly #leftBy = new Map<string, number>()
  readonly #silent = new Map<string, number>()

  add(consents: readonly RowConsent[]): void {
    for (const { leftBy, silent } of consents) {
      if (leftBy.length > 0) this.#left++
      for (const name of new Set(leftBy)) this.#leftBy.set(name, (this.#leftBy.get(name) ?? 0) + 1)
      for (const name of new Set(silent)) this.#silent.set(name, (this.#silent.get(name) ?? 0) + 1)
    }
  }

  notes(): string[] {
    const by = [...this.#leftBy].map(([name, count]) =>
      name === OPT_OUT
        ? `${count} by earlier opt-outs of their addresses`
        : `${count} by the column ${told(name)}`,
    )
    const left = this.#left === 1 ? '1 contact was' : `${this.#left} contacts were`
    return [
      ...(this.#left > 0 ? [`${left} imported as unsubscribed: ${by.join(', ')}.`] : []),
      ...[...this.#silent].map(
        ([name, count]) =>
          `The column ${told(name)} is empty in ${count === 1 ? '1 row' : `${count} rows`}, which it did not unsubscribe.`,
      ),
    ]
  }
}

function told(name: string): string {
  return `\`${shortened(name, QUESTIONED_NAME_MAX)}\``
}
