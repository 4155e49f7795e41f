/**
 * Tells from the different values of a column, and from how often they occur, whether it looks like one of
 * answers: yes and no in any language, letters and codes, a mark or a date in few rows. For columns whose
 * names do not say what they hold.
 */
import type { CellKind } from './consent.ts'
import { withoutAccents } from './consent-words.ts'
import { isForbidding, list, wordsOf } from './contact-words.ts'

/** The values of a column. */
export interface ColumnValues {
  /** Rows by kind of cell. */
  counts: Readonly<Record<CellKind, number>>
  /** Rows by value, of the first `DISTINCT_MAX` different ones. */
  texts: ReadonlyMap<string, number>
  /** Rows with empty cells. */
  emptyCount: number
}

/** A column with as many different values holds no answers. */
export const DISTINCT_MAX = 13

/** Answers beside yes and no, such as `unknown` and `later`. */
const OTHER_ANSWERS_MAX = 2
const LETTERS_MAX = 3
const MARK_CHARACTERS_MAX = 1
const ANSWER_CHARACTERS_MAX = 24
/** Values that occur in fewer rows may be different by chance. */
const REPEATED_ROWS_MIN = 4
/** From this part of empty rows on, a date says that something has happened to a few people. */
const SPARSE_DATES = 0.3
const NUMBER = /^[-+]?[\d.,\s]+[%€$£]?$/
const DIGIT = /^(?:-?\d|[01][.,]0)$/
const FLAG = /^-?[01](?:[.,]0)?$/
const LETTER = /^\p{L}$/u
const SHORT = /^(?:[\p{Script=Latin}\p{Script=Cyrillic}]{1,3}|[^\p{Script=Latin}\p{Script=Cyrillic}\d])$/u
const COUNTRY = /^\p{Lu}{2,3}$/u
const SMTP_REPLY = /^[245]\d\d$/
const SMTP_REFUSAL = /^[45]\d\d$/
const UNIX_TIME = /^\d{9,}$/
const YEAR = /^(?:19|20)\d\d$/
/** Prefixes that turn a word into its opposite, such as `ab` in `abgemeldet`. */
const OPPOSITES = list(
  'un in im non no not nein nicht kein ex dis de des dez ab aus ent uit af av ut fra från wy ode od ne nie не от вы le lej 非 不 未 无 無 没 비 미',
  'an ein på pa til pri při wpi za под fel be',
)

/**
 * Whether the values look like answers.
 * @param isSuspected whether the name is of a subject that may be one of mail
 */
export function looksLikeAnswers({ counts, texts, emptyCount }: ColumnValues, isSuspected: boolean): boolean {
  const values = [...texts.keys()]
  const are = (pattern: RegExp) => values.every(value => pattern.test(value))
  const rows = rowsOf(texts)
  if (counts.date > 0) return (isSuspected || !are(UNIX_TIME)) && isSparseDate(counts, emptyCount)
  if (rows === 0 || values.length >= DISTINCT_MAX) return false
  const isSameForAll = values.length === 1 && emptyCount === 0 && rows > 1
  if (isSameForAll && !isSuspected) return false // it does not tell some contacts from others
  const isMostlyEmpty = emptyCount > rows
  if (are(SMTP_REPLY)) return values.some(value => SMTP_REFUSAL.test(value))
  if (isMostlyEmpty && are(YEAR)) return true
  if (are(NUMBER)) return are(FLAG) || (are(DIGIT) && areCodes(values.map(Number), rows, isSuspected))
  if (counts.word + counts.stays === rows && counts.word > 0) return false // all are understood
  if (counts.true + counts.false > 0) return areFlags(values, counts, rows)
  if (hasOpposites(values)) return true
  if (values.length === 1) return isMostlyEmpty && (isSuspected || values[0]!.length <= MARK_CHARACTERS_MAX)
  if (are(SHORT) && areLetters(values, rows, isSuspected)) return true
  const isKnown = isSuspected || counts.stays + counts.vague > 0
  return isKnown && values.length === 2 && rows >= REPEATED_ROWS_MIN && values.every(isShort)
}

/** Whether there are few answers beside yes and no; of one of these, the other one may not be understood. */
function areFlags(
  values: readonly string[],
  { true: yes, false: no }: ColumnValues['counts'],
  rows: number,
): boolean {
  if (values.some(value => NUMBER.test(value) && !DIGIT.test(value))) return false
  if (no === 0 && yes < rows && values.every(value => COUNTRY.test(value))) return false
  const isWhole = yes + no === rows || (yes > 0 && no > 0)
  return values.length <= 2 + OTHER_ANSWERS_MAX && (isWhole || rows >= REPEATED_ROWS_MIN)
}

/** Whether digits are codes. 1 and 2 may be levels, and more different ones are figures. */
function areCodes(digits: readonly number[], rows: number, isSuspected: boolean): boolean {
  const isLevel = digits.every(digit => digit > 0) && Math.abs(digits[0]! - digits[1]!) === 1
  return digits.length === 2 && rows >= REPEATED_ROWS_MIN && (isSuspected || !isLevel)
}

/** Whether short values are codes: letters, and not those of countries. */
function areLetters(values: readonly string[], rows: number, isSuspected: boolean): boolean {
  if (isSuspected) return values.length <= LETTERS_MAX
  if (values.length !== 2) return false
  return (
    values.every(value => LETTER.test(value)) ||
    (rows >= REPEATED_ROWS_MIN &&
      values.some(value => value.length < 3) &&
      !values.every(value => COUNTRY.test(value)))
  )
}

function isShort(value: string): boolean {
  return value.length <= ANSWER_CHARACTERS_MAX
}

function isSparseDate(counts: ColumnValues['counts'], emptyCount: number): boolean {
  if (counts.other + counts.code > 0) return false
  const never = emptyCount + counts.never + counts.false
  return never / (never + counts.date) >= SPARSE_DATES
}

/** Rows with one of the values. */
export function rowsOf(texts: ReadonlyMap<string, number>): number {
  return [...texts.values()].reduce((sum, count) => sum + count, 0)
}

/** Whether two of the values are opposites, as `abgemeldet` and `angemeldet`, or `no quiere` and `quiere`. */
export function hasOpposites(values: readonly string[]): boolean {
  const plain = values.map(value => withoutAccents(value).replace(/[\s\p{Pd}]/gu, ''))
  const negated = plain.filter((_, i) => isForbidding(wordsOf(values[i]!)))
  return (
    negated.some(one => plain.some(other => one !== other && isAbout(one, other))) ||
    plain.some((one, i) => plain.some((other, j) => i !== j && isOpposite(one, other)))
  )
}

/** Whether a negated text has a part of the other one. */
function isAbout(negated: string, other: string): boolean {
  const length = sharedLength(other)
  return (
    other.length >= length &&
    (negated.includes(other.slice(0, length)) || negated.includes(other.slice(-length)))
  )
}

/** Characters that two values must share to be about the same. */
function sharedLength(value: string): number {
  return /^[\p{Script=Latin}\p{Script=Cyrillic}]/u.test(value) ? 4 : 2
}

function isOpposite(one: string, other: string): boolean {
  let shared = 0
  while (shared < Math.min(one.length, other.length) && one.at(-1 - shared) === other.at(-1 - shared))
    shared++
  if (shared === 0 || shared < Math.min(sharedLength(one), other.length)) return false
  const [front, otherFront] = [one.slice(0, one.length - shared), other.slice(0, other.length - shared)]
  return OPPOSITES.includes(front) && (otherFront === '' || OPPOSITES.includes(otherFront))
}
