/** Takes the newest deliveries out of a dump, with all that their messages are rebuilt from. */
import { createFilled, type DumpedRow, rowsInDump } from '../opening/dialect.ts'

/** Rows of these are few; the others are chosen. */
const WHOLE = ['link_terms', 'dkim_keys', 'former_dkim_keys']
const HEX_PREFIX = '\\x'

/**
 * Writes the newest deliveries of a dump to a SQLite database, which needs no server.
 * @param dump path of the dump @param file path of the database, at which there is none
 * @throws StartFault when `pg_restore` cannot be run
 */
export async function writeDumpSample(dump: string, file: string, limit: number): Promise<void> {
  const deliveries = await newest(dump, limit)
  const emailIds = new Set(deliveries.map(({ email_id }) => email_id!))
  const emails: DumpedRow[] = []
  for await (const [, row] of rowsInDump(dump, ['emails'])) if (emailIds.has(row.id!)) emails.push(row)
  const contentIds = new Set(emails.map(({ content_id }) => content_id))
  const hashes = new Set(emails.flatMap(blobsOf))
  const database = await createFilled(file)
  try {
    for (const row of deliveries) database.add('deliveries', row)
    for (const row of emails) database.add('emails', row)
    for await (const [table, row] of rowsInDump(dump, ['contents', 'blobs', ...WHOLE])) {
      const isNeeded =
        table === 'contents' ? contentIds.has(row.id!) : table === 'blobs' ? hashes.has(row.hash!) : true
      if (isNeeded) database.add(table, row)
    }
  } finally {
    database.close()
  }
}

/** Finds the first deliveries in the order of their emails, the newest first, and then of their numbers. */
async function newest(dump: string, limit: number): Promise<DumpedRow[]> {
  const first: DumpedRow[] = []
  for await (const [, row] of rowsInDump(dump, ['deliveries'])) {
    const last = first.at(-1)
    if (first.length === limit && last && !isBefore(row, last)) continue
    const at = first.findIndex(each => isBefore(row, each))
    first.splice(at < 0 ? first.length : at, 0, row)
    if (first.length > limit) first.pop()
  }
  return first
}

function isBefore(one: DumpedRow, other: DumpedRow): boolean {
  if (one.email_id !== other.email_id) return one.email_id! > other.email_id!
  return Number(one.ordinal) < Number(other.ordinal)
}

/** @returns hashes of the attachments and of the raw message of an email, as the dump writes them */
function blobsOf({ attachments, raw }: DumpedRow): string[] {
  const named = attachments == null ? [] : (JSON.parse(attachments) as { hash: string }[])
  return [...named.map(({ hash }) => HEX_PREFIX + hash), ...(raw == null ? [] : [raw])]
}
