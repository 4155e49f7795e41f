/** Sums up the rows of an import report, which would otherwise bury each other. */
import type { ContactImport } from '../api/types.ts'
import { count } from './numbers.ts'

type Row = ContactImport['errors'][number]

interface RowGroup {
  text: string
  rows: readonly Row[]
}

const LINE_BREAK = /^A line break in the cell `(.*)` was replaced by a space\.$/s
const UNSUBSCRIBED = / imported as unsubscribed: /

/** Groups rows with the same message, the most frequent first. */
export function groupsOf(rows: readonly Row[]): RowGroup[] {
  return [...Map.groupBy(rows, ({ message }) => message)]
    .map(([message, ofMessage]) => ({ text: groupText(message, ofMessage.length), rows: ofMessage }))
    .sort((a, b) => b.rows.length - a.rows.length)
}

function groupText(message: string, times: number): string {
  const plain = message.replaceAll('`', '')
  if (times === 1) return plain
  const column = LINE_BREAK.exec(message)?.[1]
  return column === undefined
    ? `${count(times)} × ${plain}`
    : `${count(times)} line breaks in ${column} were replaced by spaces.`
}

/** Splits the note about contacts that were imported as unsubscribed from the others. */
export function splitNotes(notes: readonly Row[]): { left: string | undefined; others: Row[] } {
  const left = notes.find(({ message }) => UNSUBSCRIBED.test(message))
  return { left: left?.message.replaceAll('`', ''), others: notes.filter(note => note !== left) }
}

/** Returns rejected rows as CSV. A text that a spreadsheet would run as a formula gets an apostrophe. */
export function rejectedCsv(errors: readonly Row[]): string {
  const cell = (text: string) => `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`
  const lines = errors.map(({ row, email, message }) =>
    [String(row), cell(email ?? ''), cell(message)].join(','),
  )
  return ['row,email,reason', ...lines, ''].join('\r\n')
}
