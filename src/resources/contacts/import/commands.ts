/** Commands that store an import. Each batch of rows is stored together with the report of the import. */
import type { Clock } from '../../../lib/clock.ts'
import type { Id } from '../../../lib/ids.ts'
import { command, type Run, type Tx } from '../../../store/model/command.ts'
import type {
  ContactImportRow,
  ContactRow,
  ContactTopicRow,
  ImportState,
} from '../../../store/model/schema.ts'
import { hasAudience } from '../audience-commands.ts'
import { type ContactPlace, changedContact, hasSameFields, newContact } from '../contact.ts'
import { PROPERTIES_MAX } from '../limits.ts'
import { readProperties } from '../properties.ts'
import { hasRoomForKeys } from '../property-keys.ts'
import { putSubscriptions } from '../subscriptions.ts'
import type { TopicSubscription } from '../topic-commands.ts'
import { type ContactWrite, findContacts, writeContacts } from '../write-contacts.ts'
import type { ImportRow, RowError, RowNote } from './row.ts'
import { openTopicChoices } from './topic-choices.ts'

/** What an import does with an existing contact. */
export type OnExisting = 'update' | 'skip'

export type ImportKey = ContactPlace & { id: Id }

interface ImportBatch extends ImportKey {
  rows: readonly ImportRow[]
  /** Rows that could not be imported. */
  errors: readonly RowError[]
  /** Notes about the header row. */
  headerNotes?: readonly string[] | undefined
  onExisting: OnExisting
  subscriptions?: readonly TopicSubscription[]
  at: number
}

/** Maximum number of errors, and of notes, in a report. The count includes all errors. */
export const ERRORS_MAX = 100

/** Statement of a row about leaving. */
export type RowConsent = Pick<ImportRow, 'leftBy' | 'silent'>

/** Stands for the name of a column if an earlier opt-out of the address unsubscribes a contact. */
export const OPT_OUT = ''

const COUNTS = [
  'rowCount',
  'createdCount',
  'updatedCount',
  'unchangedCount',
  'skippedCount',
  'failedCount',
] as const

type Counts = Record<(typeof COUNTS)[number], number>

export const importCommands = {
  /** Refuses to start if the audience does not exist or would have too many different property keys. */
  beginImport: command<
    ImportKey & { fileName: string | null; keys: readonly string[]; at: number },
    'begun' | 'no-audience' | 'too-many-keys'
  >(async (tx, { accountId, audienceId, id, fileName, keys, at }) => {
    if (!(await hasAudience(tx, { accountId, audienceId }))) return 'no-audience'
    if (!(await hasRoomForKeys(tx, audienceId, keys))) return 'too-many-keys'
    await tx.rows.insert('contactImports', [
      {
        ...{ accountId, audienceId, id, fileName, state: 'running', errors: '[]', fault: null },
        ...(Object.fromEntries(COUNTS.map(count => [count, 0])) as Counts),
        ...{ createdAt: at, updatedAt: at, endedAt: null },
      },
    ])
    return 'begun'
  }),

  /** Returns what the rows that were imported say about leaving; undefined if the audience was deleted. */
  importRows: command<ImportBatch, readonly RowConsent[] | undefined>(
    async (
      tx,
      { accountId, audienceId, id, rows, errors, headerNotes = [], onExisting, subscriptions = [], at },
    ) => {
      const place = { accountId, audienceId }
      if (!(await hasAudience(tx, place))) return undefined
      const batch = await readBatch(tx, { ...place, id }, { rows, onExisting, subscriptions, at })
      // before the contacts are written, so that opt-outs of new contacts take precedence
      await putSubscriptions(tx, batch.choices)
      const written = await writeContacts(tx, place, batch.writes, at)
      const optOuts = written.filter(
        (after, i) => after?.unsubscribed !== batch.writes[i]!.after?.unsubscribed,
      )
      const header = { row: 1, email: null, notes: headerNotes }
      const notes = [header, ...rows].flatMap(({ row, email, notes }) =>
        notes.map((message): RowNote => ({ row, email, message, imported: true })),
      )
      const all = [...errors, ...batch.errors].sort((a, b) => a.row - b.row)
      batch.counts.failedCount = all.length
      batch.counts.rowCount = rows.length + errors.length
      await report(tx, { accountId, audienceId, id }, batch.counts, [...all, ...notes], at)
      return [...batch.consents, ...optOuts.map(() => ({ leftBy: [OPT_OUT], silent: [] }))]
    },
    { weigh: ({ rows }) => rows.length },
  ),

  /**
   * Returns undefined if the audience was deleted.
   * @param notes about the whole file; they come before those about rows
   */
  endImport: command<
    ImportKey & { state: ImportState; fault: string | null; notes: readonly string[]; at: number },
    ContactImportRow | undefined
  >(async (tx, { accountId, audienceId, id, state, fault, notes, at }) => {
    const known = notes.length > 0 ? await entriesOf(tx, { audienceId, id }) : []
    const added = notes.map((message): RowNote => ({ row: 1, email: null, message, imported: true }))
    if (added.length > 0) await putEntries(tx, { accountId, audienceId, id }, [...added, ...known])
    return tx.db
      .updateTable('contactImports')
      .set({ state, fault, updatedAt: at, endedAt: at })
      .where('audienceId', '=', audienceId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
  }),

  /** Marks imports that were not updated since `before` as interrupted; their process has ended. */
  endLostImports: command<{ before: number; at: number }, void>(async ({ db }, { before, at }) => {
    await db
      .updateTable('contactImports')
      .set({
        state: 'interrupted',
        fault: 'The service was stopped during the import.',
        updatedAt: at,
        endedAt: at,
      })
      .where('state', '=', 'running')
      .where('updatedAt', '<', before)
      .execute()
  }),

  /** Deletes the reports about rows. Their contacts still name the import as their source. */
  forgetImportReports: command<{ endedBefore: number }, void>(async ({ db }, { endedBefore }) => {
    await db
      .updateTable('contactImports')
      .set({ errors: '[]' })
      .where('endedAt', '<', endedBefore)
      .where('errors', '!=', '[]')
      .execute()
  }),
}

/** Contact of a batch before and after the change. */
interface Touched {
  before: ContactRow | null
  after: ContactRow
}

async function readBatch(
  tx: Tx,
  { id: importId, ...place }: ImportKey,
  {
    rows,
    onExisting,
    subscriptions,
    at,
  }: Required<Omit<ImportBatch, keyof ImportKey | 'errors' | 'headerNotes'>>,
) {
  const emails = [...new Set(rows.map(({ email }) => email))]
  const found = await findContacts(
    tx.rows.find,
    place,
    emails.map(email => ({ email })),
  )
  const touched = new Map<string, Touched>()
  for (const contact of found) if (contact) touched.set(contact.email, { before: contact, after: contact })
  const counts = Object.fromEntries(COUNTS.map(count => [count, 0])) as Counts
  const errors: RowError[] = []
  const choices: ContactTopicRow[] = []
  const consents: RowConsent[] = []
  const known = found.flatMap(contact => (contact ? [contact.id] : []))
  const choose = await openTopicChoices(tx, place.accountId, subscriptions, known, at)
  for (const row of rows) {
    const known = touched.get(row.email)
    if (known && onExisting === 'skip') {
      counts.skippedCount++
      continue
    }
    const after = known
      ? changedContact(known.after, importedFields(row), at)
      : madeOf(tx, { ...place, id: importId }, row, at)
    if (readProperties(after.properties).size > PROPERTIES_MAX) {
      const message = `A contact may have at most ${PROPERTIES_MAX} properties.`
      errors.push({ row: row.row, email: row.email, message })
      continue
    }
    consents.push({ leftBy: row.leftBy, silent: row.silent })
    const chosen = choose(after.id)
    choices.push(...chosen)
    if (known && chosen.length === 0 && hasSameFields(known.after, after)) counts.unchangedCount++
    else {
      counts[known ? 'updatedCount' : 'createdCount']++
      touched.set(row.email, { before: known?.before ?? null, after })
    }
  }
  const writes: ContactWrite[] = [...touched.values()].filter(({ before, after }) => before !== after)
  return { writes, choices, counts, errors, consents }
}

/** An import can unsubscribe a contact but cannot resubscribe one. */
function importedFields({ changes: { unsubscribed, ...changes } }: ImportRow) {
  return { ...changes, ...(unsubscribed && { unsubscribed }) }
}

function madeOf(
  tx: Tx,
  { id: importId, ...place }: ImportKey,
  { row: importRow, email, changes }: ImportRow,
  at: number,
): ContactRow {
  const none = { firstName: null, lastName: null, unsubscribed: false, properties: new Map() }
  const bare = newContact(place, tx.newId(at), { email, ...none }, at)
  return { ...changedContact(bare, changes, at), importId, importRow }
}

async function report(
  tx: Tx,
  key: ImportKey,
  counts: Counts,
  entries: readonly (RowError | RowNote)[],
  at: number,
) {
  const { audienceId, id } = key
  await tx.db
    .updateTable('contactImports')
    .set(eb => ({
      ...Object.fromEntries(COUNTS.map(count => [count, eb(count, '+', counts[count])])),
      updatedAt: at,
    }))
    .where('audienceId', '=', audienceId)
    .where('id', '=', id)
    .execute()
  if (entries.length > 0) await putEntries(tx, key, [...(await entriesOf(tx, key)), ...entries])
}

async function entriesOf(
  { rows }: Tx,
  { audienceId, id }: Pick<ImportKey, 'audienceId' | 'id'>,
): Promise<(RowError | RowNote)[]> {
  const [row] = await rows.find('contactImports', [{ audienceId, id }], ['errors'])
  return JSON.parse(row?.errors ?? '[]') as (RowError | RowNote)[]
}

async function putEntries(
  { rows }: Tx,
  { audienceId, id }: ImportKey,
  all: readonly (RowError | RowNote)[],
): Promise<void> {
  const errors = all.filter(entry => !('imported' in entry)).slice(0, ERRORS_MAX)
  const notes = all.filter(entry => 'imported' in entry).slice(0, ERRORS_MAX)
  await rows.update(
    'contactImports',
    ['audienceId', 'id'],
    [{ audienceId, id, errors: JSON.stringify([...errors, ...notes]) }],
  )
}

/** An import in progress is updated more often. Without updates it counts as interrupted. */
const LOST_AFTER_MS = 10 * 60_000
const RETENTION_MS = 90 * 24 * 60 * 60_000

/** Ends imports whose process died, and deletes expired reports about rows, in steps. */
export async function* sweepImports({
  run,
  clock,
}: {
  run: Run<typeof importCommands>
  clock: Clock
}): AsyncGenerator<void> {
  const at = clock.now()
  await run('endLostImports', { before: at - LOST_AFTER_MS, at })
  yield
  await run('forgetImportReports', { endedBefore: at - RETENTION_MS })
  yield
}
