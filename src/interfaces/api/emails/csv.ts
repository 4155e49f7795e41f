/** Formats emails as CSV lines: the fields of the list, and the error. */
import { csvLine } from '../../../lib/csv.ts'
import type { ListedEmail } from '../../../resources/search/list.ts'
import { emailRowView } from './schema.ts'

const COLUMNS = [
  'id',
  'from',
  'to',
  'cc',
  'bcc',
  'reply_to',
  'subject',
  'message_id',
  'status',
  'last_event',
  'error',
  'open_count',
  'click_count',
  'broadcast_id',
  'topic_id',
  'scheduled_at',
  'created_at',
  'last_event_at',
] as const

export const CSV_HEADER = line(COLUMNS)

export function emailCsv(emails: readonly ListedEmail[]): string {
  return emails
    .map(email => {
      const view = { ...emailRowView(email), error: email.error }
      return line(COLUMNS.map(column => view[column]))
    })
    .join('')
}

function line(cells: readonly (string | number | null | readonly string[])[]): string {
  return csvLine(cells.map(cell => [cell ?? ''].flat().join(', ')))
}
