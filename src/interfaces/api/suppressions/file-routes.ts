/** Serves imports and exports of the suppression list, as CSV and as JSON. */
import * as z from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import { csvLine, unguarded } from '../../../lib/csv.ts'
import type { Id } from '../../../lib/ids.ts'
import { parseIsoTime } from '../../../lib/iso-time.ts'
import { foldAddress } from '../../../protocols/smtp/address.ts'
import { readRecords } from '../../../resources/contacts/import/records.ts'
import { openText } from '../../../resources/contacts/import/text.ts'
import { suppressionsAfter } from '../../../resources/suppressions/list.ts'
import {
  SUPPRESSION_REASONS,
  type suppressionCommands,
} from '../../../resources/suppressions/suppression-rows.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db, SuppressionReason } from '../../../store/model/schema.ts'
import { requireWholeAccount } from '../auth/bound-key.ts'
import { asRefused } from '../contacts/import-routes.ts'
import { CSV, requireCsv } from '../contacts/import-schema.ts'
import { exportReply } from '../route/export.ts'
import { type ApiRequest, ok, type Route } from '../route/route.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { bodyReader, readChoice } from '../schema/read.ts'
import { timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'
import { readSuppressed, suppressionImportSchema } from './schema.ts'

interface SuppressionFileRoutesOptions {
  db: Db
  run: Run<typeof suppressionCommands>
  clock: Clock
}

const IMPORT_BYTES_MAX = 32 * 1024 * 1024
/** Entries that are stored at once. */
const BATCH_ENTRIES = 500
const ERRORS_MAX = 100

const reason = z.enum(SUPPRESSION_REASONS)
const entryIn = z.record(z.string(), z.unknown())
const importedSchema = z.object({ data: z.array(entryIn) })
const readImport = bodyReader(importedSchema)
const exportSchema = z.object({
  object: z.literal('list'),
  data: z.array(z.object({ email: z.string(), reason, created_at: timeSchema })),
})
type Report = z.output<typeof suppressionImportSchema>

const exportQuery = {
  reason: reason.optional(),
  origin: reason.optional().meta({ description: 'Alias of `reason`.' }),
}

export function suppressionFileRoutes(options: SuppressionFileRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/suppressions/import',
      access: 'key',
      summary: 'Import suppressions from CSV or JSON',
      body: importedSchema,
      bodyLimitBytes: IMPORT_BYTES_MAX,
      replies: { 200: suppressionImportSchema },
      async handle(request) {
        requireWholeAccount(request.credential)
        const isCsv = /^\s*text\/csv\b/i.test(request.headers['content-type'] ?? '')
        const entries = isCsv ? csvEntries(request) : jsonEntries(readImport(await request.body()).data)
        return ok(await importEntries(options, request.credential.accountId, entries).catch(asRefused))
      },
    },
    exportRoute(options.db, '/suppressions/export', CSV),
    exportRoute(options.db, '/suppressions/export.json', exportSchema),
  ]
}

function exportRoute(db: Db, path: string, reply: typeof CSV | typeof exportSchema): Route {
  const isCsv = reply === CSV
  return {
    method: 'GET',
    path,
    access: 'key',
    summary: `Export suppressions as ${isCsv ? 'CSV' : 'JSON'}, in the order of their addresses`,
    query: exportQuery,
    replies: { 200: reply },
    async handle({ query, credential: { accountId } }) {
      const wanted = readChoice(query, query.has('origin') ? 'origin' : 'reason', SUPPRESSION_REASONS) ?? null
      const batches = entriesOf(db, accountId, wanted)
      return isCsv
        ? exportReply('suppressions', 'csv', csvOf(batches))
        : exportReply('suppressions', 'json', jsonOf(batches))
    },
  }
}

type Exported = z.output<typeof exportSchema>['data']

async function* entriesOf(db: Db, accountId: Id, wanted: SuppressionReason | null): AsyncGenerator<Exported> {
  for (let after = ''; ; ) {
    const rows = await suppressionsAfter(db, accountId, wanted, after)
    const last = rows.at(-1)
    if (!last) return
    after = last.email
    yield rows.map(({ email, reason, createdAt }) => ({ email, reason, created_at: timestamp(createdAt) }))
  }
}

async function* csvOf(batches: AsyncIterable<Exported>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(csvLine(['email', 'reason', 'created_at']))
  for await (const entries of batches)
    yield Buffer.from(
      entries.map(({ email, reason, created_at }) => csvLine([email, reason, created_at])).join(''),
    )
}

async function* jsonOf(batches: AsyncIterable<Exported>): AsyncGenerator<Uint8Array> {
  let before = '{"object":"list","data":[\n'
  for await (const entries of batches) {
    yield Buffer.from(before + entries.map(entry => JSON.stringify(entry)).join(',\n'))
    before = ',\n'
  }
  yield Buffer.from(before.startsWith('{') ? '{"object":"list","data":[]}\n' : '\n]}\n')
}

/** Entry of a file, with its texts as they are. */
interface FileEntry {
  row: number
  email: unknown
  reason: unknown
  createdAt: unknown
}

function* jsonEntries(entries: readonly z.output<typeof entryIn>[]): Generator<FileEntry> {
  for (const [i, entry] of entries.entries())
    yield {
      row: i + 1,
      email: entry.email,
      reason: entry.reason ?? entry.origin,
      createdAt: entry.created_at ?? entry.createdAt,
    }
}

/** Names of columns in exports of other services, without marks and in lower case. */
const COLUMNS = {
  email: ['email', 'emailaddress', 'address', 'recipient'],
  reason: ['reason', 'origin', 'suppressionreason', 'type'],
  createdAt: ['createdat', 'created', 'date', 'timestamp', 'lastupdatetime', 'suppressedat'],
} as const

/** Yields the rows of a file. One whose first row has an address and no names is a list of addresses. */
async function* csvEntries(request: ApiRequest): AsyncGenerator<FileEntry> {
  const charset = requireCsv(request)
  let columns: Record<keyof typeof COLUMNS, number> | undefined
  for await (const { row, cells } of readRecords(await openText(request.stream(), charset))) {
    if (!columns) {
      const names = cells.map(cell => cell.toLowerCase().replace(/[^a-z]/g, ''))
      const at = (column: keyof typeof COLUMNS) =>
        names.findIndex(name => (COLUMNS[column] as readonly string[]).includes(name))
      columns = { email: at('email'), reason: at('reason'), createdAt: at('createdAt') }
      if (columns.email >= 0) continue
      columns = { email: 0, reason: -1, createdAt: -1 }
    }
    const cell = (column: keyof typeof COLUMNS) =>
      unguarded(cells[columns![column]] ?? '').trim() || undefined
    yield { row, email: cell('email'), reason: cell('reason'), createdAt: cell('createdAt') }
  }
}

async function importEntries(
  { run, clock }: SuppressionFileRoutesOptions,
  accountId: Id,
  entries: Iterable<FileEntry> | AsyncIterable<FileEntry>,
): Promise<Report> {
  const report: Report = {
    object: 'suppression_import',
    rows: 0,
    added: 0,
    existing: 0,
    failed: 0,
    errors: [],
  }
  const at = clock.now()
  let waiting: Parameters<typeof run<'suppress'>>[1][number][] = []
  const flush = async () => {
    const stored = await run('suppress', waiting)
    waiting = []
    for (const { isNew } of stored) report[isNew ? 'added' : 'existing']++
  }
  for await (const entry of entries) {
    report.rows++
    const read = readEntry(entry, at)
    if ('message' in read) {
      report.failed++
      if (report.errors.length < ERRORS_MAX) report.errors.push(read)
    } else waiting.push({ accountId, sourceId: null, at, ...read })
    if (waiting.length === BATCH_ENTRIES) await flush()
  }
  await flush()
  return report
}

interface ReadEntry {
  email: string
  reason: SuppressionReason
  createdAt: number
}

function readEntry(
  { row, email, reason, createdAt }: FileEntry,
  at: number,
): ReadEntry | Report['errors'][number] {
  const fault = (message: string) => ({ row, email: typeof email === 'string' ? email : null, message })
  if (typeof email !== 'string') return fault('`email` must be an address.')
  const address = readSuppressed(email)
  if ('fault' in address) return fault(`The address ${address.fault}.`)
  const known = reasonIn(reason)
  if (!known)
    return fault(`\`reason\` must be one of ${SUPPRESSION_REASONS.join(', ')}; got ${shownValue(reason)}.`)
  const time = timeIn(createdAt, at)
  if (time === undefined)
    return fault(
      `\`created_at\` must be a time in ISO 8601, not in the future; got ${shownValue(createdAt)}.`,
    )
  return { email: foldAddress(address.address), reason: known, createdAt: time }
}

/** Words of other services, without marks and in lower case. */
const REASONS = new Map<string, SuppressionReason>([
  ...SUPPRESSION_REASONS.map(reason => [reason, reason] as const),
  ...(['bounces', 'hardbounce', 'hardfail', 'invalid', 'invalidemail'] as const).map(
    word => [word, 'bounce'] as const,
  ),
  ...(['complaints', 'complained', 'spam', 'spamcomplaint', 'spamreport'] as const).map(
    word => [word, 'complaint'] as const,
  ),
  ...(['manualsuppression', 'unsubscribe', 'unsubscribed', 'blocklisted', 'recipient'] as const).map(
    word => [word, 'manual'] as const,
  ),
])

function reasonIn(value: unknown): SuppressionReason | undefined {
  if (value === undefined || value === null || value === '') return 'manual'
  return typeof value === 'string' ? REASONS.get(value.toLowerCase().replace(/[^a-z]/g, '')) : undefined
}

/** Reads a time in ISO 8601, or in seconds since the epoch. */
function timeIn(value: unknown, at: number): number | undefined {
  if (value === undefined || value === null || value === '') return at
  const text = String(value)
  const time = /^\d{9,10}(?:\.\d+)?$/.test(text) ? Math.floor(Number(text) * 1_000) : parseIsoTime(text)
  return time !== undefined && time <= at ? time : undefined
}
