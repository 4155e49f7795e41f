/**
 * Selects the header fields that a signature covers and computes their canonical form (RFC 6376 §3.4.2,
 * §5.4).
 */
import type { HeaderField } from '../smtp/header-field.ts'

export interface SignedFields {
  /** Names of the h= tag: lower case, one entry for each field that is signed or must not be added. */
  names: readonly string[]
  /** The h= tag, folded, with its semicolon. */
  namesTag: string
  /** The relaxed fields in the order of `names`, each with its CRLF. */
  canonical: string
}

/**
 * These names are listed once more than they occur, so that adding such a field breaks the signature (RFC
 * 6376 §8.15). Fields that mailing lists and forwarders add are not among them: Sender and List-* are signed
 * where they occur (§5.4.1, §B.2.3).
 */
const OVERSIGNED = [
  'from',
  'reply-to',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'in-reply-to',
  'references',
]
/** These fields are signed if they occur. `x-mailhorn-ref` identifies the delivery of a complaint. */
const SIGNED = /^(?:sender|feedback-id|x-mailhorn-ref|list-.*|resent-.*)$/
const IRREGULAR = /\t|^ | $| {2}/

/** The part of a selection that depends on the field names only. */
interface Selection extends Pick<SignedFields, 'names' | 'namesTag'> {
  /** Lower-case name and index of each signed field, in the order of signing. */
  signed: { name: string; at: number }[]
}

/**
 * Messages have few distinct sets of field names, so selections are cached by these names. Selections of more
 * than `FIELDS_MAX` fields come from submitted messages and are not cached.
 */
const selections = new Map<string, Selection>()
const SELECTIONS_MAX = 100
const FIELDS_MAX = 50

/**
 * Fields of the same name are taken from the bottom up, since verifiers count from there (RFC 6376 §5.4.2).
 *
 * @throws if there is no From field, which every signature must cover (RFC 6376 §5.4)
 */
export function selectSignedFields(fields: readonly HeaderField[]): SignedFields {
  let key = ''
  for (const { name } of fields) key += `${name}:`
  const { names, namesTag, signed } = selections.get(key) ?? keep(key, select(fields))
  let canonical = ''
  for (const { name, at } of signed) canonical += `${relaxedField(name, fields[at]!.value)}\r\n`
  return { names, namesTag, canonical }
}

function keep(key: string, selection: Selection): Selection {
  if (selection.signed.length > FIELDS_MAX) return selection
  if (selections.size >= SELECTIONS_MAX) selections.clear()
  selections.set(key, selection)
  return selection
}

function select(fields: readonly HeaderField[]): Selection {
  const places = new Map<string, number[]>()
  for (const [at, field] of fields.entries()) {
    const name = field.name.trimEnd().toLowerCase()
    const known = places.get(name)
    if (known) known.push(at)
    else places.set(name, [at])
  }
  if (!places.has('from')) throw new Error('a message without From cannot be signed')
  const names: string[] = []
  const signed: Selection['signed'] = []
  const add = (name: string, from: readonly number[]) => {
    for (const at of from.toReversed()) {
      names.push(name)
      signed.push({ name, at })
    }
  }
  for (const name of OVERSIGNED) {
    add(name, places.get(name) ?? [])
    names.push(name)
    places.delete(name)
  }
  for (const [name, from] of places) if (SIGNED.test(name)) add(name, from)
  return { names, namesTag: tagOf(names), signed }
}

function tagOf(names: readonly string[]): string {
  const last = names.length - 1
  return `h=${fill(
    names.map((name, at) => name + (at < last ? ':' : ';')),
    '',
    ' h='.length,
  )}`
}

/**
 * @returns `name:value` without CRLF: unfolded, runs of blanks reduced to one, no blank at either end (RFC
 * 6376 §3.4.2)
 */
export function relaxedField(lowerCaseName: string, value: string): string {
  const unfolded = value.replaceAll('\r\n', '')
  if (!IRREGULAR.test(unfolded)) return `${lowerCaseName}:${unfolded}`
  return `${lowerCaseName}:${unfolded.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')}`
}

/** Width of a folded DKIM-Signature field (RFC 6376 §3.2, RFC 5322 §2.2.3). */
export const LINE_CHARACTERS = 76

/**
 * Joins pieces of a DKIM-Signature field and folds before a piece that does not fit on the line.
 * @param column number of characters before the pieces on the first line
 */
export function fill(pieces: readonly string[], separator: string, column: number): string {
  let text = ''
  let at = column
  for (const piece of pieces) {
    const gap = text === '' ? '' : separator
    if (text !== '' && at + gap.length + piece.length > LINE_CHARACTERS) {
      text += `\r\n ${piece}`
      at = 1 + piece.length
    } else {
      text += gap + piece
      at += gap.length + piece.length
    }
  }
  return text
}
