/** Converts a row of a contact file to contact changes by its columns. */

import { unguarded } from '../../../lib/csv.ts'
import { shortened } from '../../../lib/shortened.ts'
import {
  foldAddress,
  isAddressPattern,
  type Mailbox,
  parseAddress,
  parseMailbox,
} from '../../../protocols/smtp/address.ts'
import { withoutUnseen } from '../../../protocols/smtp/unseen-characters.ts'
import type { ContactChanges } from '../contact.ts'
import { type FieldColumn, nameFault, type PropertyValue, valueFault } from '../properties.ts'
import { answeredValue, OTHER_VALUES } from './column-meanings.ts'
import type { Column, ColumnType, ConsentColumn } from './columns.ts'
import { hasLeft, mayBeSilent } from './consent.ts'
import { ImportFault } from './fault.ts'
import type { ImportRecord } from './records.ts'

/** Changes in one row. Empty cells change nothing. */
export interface ImportRow {
  row: number
  email: string
  changes: ContactChanges
  /** What was changed in the row to import it. */
  notes: string[]
  /** Columns by which the contact is unsubscribed. */
  leftBy: string[]
  /** Columns that say whether contacts stay, and are empty in this row. */
  silent: string[]
}

export interface RowError {
  row: number
  /** Address as written in the row; null for a row without one. */
  email: string | null
  message: string
}

/** An entry of the report about a row that was imported. */
export interface RowNote extends RowError {
  imported: true
}

const FLAGS = new Map([
  ...['true', 'yes', 'y', '1', 't'].map(word => [word, true] as const),
  ...['false', 'no', 'n', '0', 'f'].map(word => [word, false] as const),
])
const LINE_BREAKS = /[\r\n]+/g
/** Maximum length of quoted values in error messages. */
const QUOTED_CHARACTERS_MAX = 100

const PATTERN_FAULT =
  'The address must be one address: an import takes no wildcards, and a contact does not stand for a domain.'

/** @throws ImportFault for a cell that does not tell whether the contact has left */
export function readRow(columns: readonly Column[], { row, cells }: ImportRecord): ImportRow | RowError {
  const fields = new Map<FieldColumn, string>()
  const properties = new Map<string, PropertyValue>()
  const fail = (message: string): RowError => ({
    row,
    email: told(fields.get('email')),
    message,
  })
  const notes: string[] = []
  const leaving: string[] = []
  const silent: string[] = []
  let isSurplus = false
  for (let i = 0; i < Math.max(cells.length, columns.length); i++) {
    const raw = cells[i] ?? ''
    const column = columns[i]
    if (raw.trim() === '') {
      if (column?.kind !== 'consent') continue
      const answer = emptyAnswer(column)
      if (answer) leaving.push(column.name)
      else if (answer === undefined && (column.answers || column.meaning === 'stays'))
        silent.push(column.name)
      continue
    }
    if (!column) {
      isSurplus = true
      continue
    }
    const text = unguarded(raw)
    if (column.kind === 'none') continue
    const cell = text.replace(LINE_BREAKS, ' ')
    if (cell.trim() !== text.trim())
      notes.push(`A line break in the cell \`${nameOf(column)}\` was replaced by a space.`)
    if (column.kind === 'consent') {
      const left = leftBy(column, cell.trim())
      if (left) leaving.push(column.name)
      if (left === undefined && !mayBeSilent(column.meaning)) throw unclear(column.name, cell, row)
      if (column.keeps === 'always' || (column.keeps === 'unclear' && left === undefined))
        properties.set(column.key ?? column.name, cell)
      continue
    }
    if (column.kind === 'field') fields.set(column.field, cell.trim())
    if (column.kind !== 'property') continue
    const value = cellValue(column.type, cell)
    if (value === undefined) return fail(`The cell \`${column.key}\` must be a ${column.type}.`)
    properties.set(column.key, value)
  }
  notes.push(...readAddress(fields, columns))
  const parsed = parseAddress(fields.get('email') ?? '')
  if (isSurplus && 'fault' in parsed)
    return fail(`The row must contain at most ${columns.length} cells, as many as the header row.`)
  const fault = faultOf(fields, properties)
  if (fault !== undefined) return fail(fault)
  if (isAddressPattern(fields.get('email')!)) return fail(PATTERN_FAULT)
  if ('fault' in parsed) return fail(`The address ${parsed.fault}.`)
  if (isSurplus) notes.push(`Cells beyond the ${columns.length} of the header row were ignored.`)
  const [firstName, lastName] = [fields.get('first_name'), fields.get('last_name')]
  const flag = fields.get('unsubscribed')
  if (flag !== undefined && hasLeft('left', flag)) leaving.push('unsubscribed')
  const changes: ContactChanges = {
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    ...(flag !== undefined && { unsubscribed: hasLeft('left', flag)! }),
    ...(leaving.length > 0 && { unsubscribed: true }),
    ...(properties.size > 0 && { properties }),
  }
  return { row, email: foldAddress(parsed.address), changes, notes, leftBy: leaving, silent }
}

/** Text of a cell, without blanks around it and guards against formulas. */
export function cellText(raw: string): string {
  return unguarded(raw).replace(LINE_BREAKS, ' ').trim()
}

/**
 * Whether the cell says that the contact has left; undefined if it cannot be told. Answers of the client
 * count first.
 */
export function leftBy({ meaning, answers }: ConsentColumn, cell: string): boolean | undefined {
  return (
    answers?.get(answeredValue(cell)) ??
    hasLeft(meaning, cell) ??
    (answers && (hasLeft('word', cell) ?? answers.get(OTHER_VALUES)))
  )
}

/** What the client says about empty cells: whether these contacts have left. */
export function emptyAnswer({ answers }: ConsentColumn): boolean | undefined {
  return answers?.get('') ?? answers?.get(OTHER_VALUES)
}

/** What some programs write between the addresses of a contact. */
const SEVERAL = /\s:::\s/

/**
 * Reduces the cell of the address to its first address, without what files copied from mail programs have
 * around it, and without invisible characters where they make it invalid. The name beside the address is used
 * if the file has no names. Returns notes.
 */
function readAddress(fields: Map<FieldColumn, string>, columns: readonly Column[]): string[] {
  const cell = fields.get('email')
  if (cell === undefined) return []
  const [first, ...others] = cell.split(SEVERAL)
  const written = mailboxIn(first!)
  const repaired = 'fault' in written ? withoutUnseen(first!) : { text: first!, removed: [] }
  const mailbox = repaired.removed.length > 0 ? mailboxIn(repaired.text) : written
  if ('fault' in mailbox) fields.set('email', mailbox.text)
  else {
    fields.set('email', mailbox.address)
    const hasNames = columns.some(
      column => column.kind === 'field' && (column.field === 'first_name' || column.field === 'last_name'),
    )
    const isSeen = mailbox.name !== null && withoutUnseen(mailbox.name).text.trim() !== ''
    if (isSeen && !hasNames) fields.set('first_name', mailbox.name!)
  }
  return [
    ...(others.length > 0 ? ['The cell `email` has several addresses. The first one was imported.'] : []),
    ...(repaired.removed.length > 0
      ? [`Invisible characters in the cell \`email\` were removed: ${repaired.removed.join(', ')}.`]
      : []),
  ]
}

function mailboxIn(cell: string): Mailbox | { fault: string; text: string } {
  const trimmed = cell.trim()
  const text = /^(?:mailto:)?<?(?:mailto:)?([^\s<>]+)>?$/i.exec(trimmed)?.[1] ?? trimmed
  const mailbox = parseMailbox(text)
  return 'fault' in mailbox ? { ...mailbox, text } : mailbox
}

function nameOf(column: Exclude<Column, { kind: 'none' }>): string {
  if (column.kind === 'field') return column.field
  return column.kind === 'consent' ? column.name : column.key
}

function unclear(name: string, cell: string, row: number): ImportFault {
  return new ImportFault(
    name,
    `The column \`${name}\` has the value \`${told(cell)}\` in row ${row}, which does not say whether the contact is subscribed. ` +
      'Give the contacts who have left `true` in a column `unsubscribed`, and rename this column to import it as a property.',
  )
}

/** Returns undefined for a value that does not have the type. */
function cellValue(type: ColumnType, cell: string): PropertyValue | undefined {
  if (type === 'string') return cell
  if (type === 'boolean') return FLAGS.get(cell.trim().toLowerCase())
  const number = Number(cell.trim())
  return Number.isFinite(number) ? number : undefined
}

function faultOf(
  fields: ReadonlyMap<FieldColumn, string>,
  properties: ReadonlyMap<string, PropertyValue>,
): string | undefined {
  if (!fields.has('email')) return 'The cell `email` must not be empty.'
  for (const [name, text] of [...fields, ...properties])
    if (typeof text === 'string' && text.includes('\ufffd'))
      return `The cell \`${name}\` must be valid in the charset of the file (UTF-8 unless the content type sets another).`
  for (const field of ['first_name', 'last_name'] as const) {
    const fault = nameFault(fields.get(field) ?? '')
    if (fault !== undefined) return `The cell \`${field}\` ${fault}.`
  }
  const flag = fields.get('unsubscribed')
  if (flag !== undefined && hasLeft('left', flag) === undefined)
    return 'The cell `unsubscribed` must be true or false.'
  for (const [key, value] of properties) {
    const fault = valueFault(value)
    if (fault !== undefined) return `The cell \`${key}\` ${fault}.`
  }
  return undefined
}

function told(email: string | undefined): string | null {
  return email === undefined ? null : shortened(withoutUnseen(email).text, QUOTED_CHARACTERS_MAX)
}
