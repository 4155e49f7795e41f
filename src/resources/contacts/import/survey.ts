/**
 * Looks at a whole contact file before its first row is stored, for what its columns say about who has left.
 * In: the records of the file. Out: the columns to import it by, or questions about columns that cannot be
 * read with certainty. Memory is bounded by the number of columns.
 */
import { shortened } from '../../../lib/shortened.ts'
import { KEYS_MAX } from '../limits.ts'
import { DISTINCT_MAX } from './answer-shapes.ts'
import { findingOf, mayHideLeaving } from './column-finding.ts'
import { VALUE_CHARACTERS_MAX } from './column-meanings.ts'
import {
  type Column,
  type ColumnWishes,
  type ConsentColumn,
  columnsOf,
  keysOf,
  QUESTIONED_NAME_MAX,
  tooManyKeys,
} from './columns.ts'
import { type CellKind, hasDoubtfulTag, kindOfCell, mayBeSilent } from './consent.ts'
import { emptyFile, ImportFault } from './fault.ts'
import { type ImportRecord, readRecords } from './records.ts'
import { cellText, emptyAnswer, leftBy } from './row.ts'
import { openText } from './text.ts'

/** A value with the first row that has it. */
interface QuestionedValue {
  value: string
  row: number
  email: string | null
}

/** A column of which the file does not say whether it tells who has left. */
interface ConsentQuestion {
  column: string
  /** The first different values, at most 12, and `''` if there are empty cells. */
  values: readonly QuestionedValue[]
}

/** Columns may say who has left. Nothing was imported; the client answers with `ColumnMeanings`. */
export class ConsentQuestions extends ImportFault {
  readonly questions: readonly ConsentQuestion[]

  constructor(questions: readonly ConsentQuestion[]) {
    super(questions[0]!.column, questions.slice(0, QUESTIONS_TOLD_MAX).map(sentenceOf).join(' '))
    this.questions = questions
  }
}

export interface ImportPlan {
  columns: readonly Column[]
}

const VALUES_MAX = 12
const EXAMPLES_TOLD_MAX = 3
const QUESTIONS_TOLD_MAX = 2
/** A longer cell is no word or answer. */
const WORD_CHARACTERS_MAX = 60
const KNOWN_CELLS_MAX = 10_000

export interface SurveyRequest extends ColumnWishes {
  bytes: AsyncIterable<Uint8Array>
  /** Charset in the content type, if any. */
  charset: string | undefined
}

/**
 * Reads the file to its end, or only the header if no column may say who has left.
 * @throws ImportFault for a header or text that cannot be read
 * @throws ConsentQuestions
 */
export async function surveyImport(request: SurveyRequest): Promise<ImportPlan> {
  const records = readRecords(await openText(request.bytes, request.charset))
  try {
    return await survey(records, request)
  } finally {
    await records.return(undefined)
  }
}

async function survey(records: AsyncGenerator<ImportRecord>, wishes: SurveyRequest): Promise<ImportPlan> {
  const { value: header } = await records.next()
  if (!header) throw emptyFile()
  const columns = columnsOf(header.cells, wishes)
  if (keysOf(columns).length > KEYS_MAX) throw tooManyKeys()
  const kinds = new CellKinds()
  const surveys = columns.map(column => (isOpen(column) ? new ColumnSurvey(column, kinds) : undefined))
  // without such columns the rest of the file is read when it is stored
  if (surveys.some(survey => survey)) {
    const emailAt = columns.findIndex(column => column.kind === 'field' && column.field === 'email')
    for await (const { row, cells } of records)
      for (const [i, survey] of surveys.entries()) survey?.add(cells[i] ?? '', row, cells[emailAt])
  }
  const isSaid = columns.some(column => column.kind === 'field' && column.field === 'unsubscribed')
  const verdicts = columns.map((column, i) => surveys[i]?.verdict(isSaid) ?? column)
  const questions = verdicts.filter(verdict => isQuestion(verdict))
  if (questions.length > 0) throw new ConsentQuestions(questions)
  return { columns: verdicts.filter((verdict): verdict is Column => !isQuestion(verdict)) }
}

function isQuestion(verdict: Column | ConsentQuestion): verdict is ConsentQuestion {
  return 'values' in verdict
}

/** Whether the cells of the column may say who has left. */
function isOpen(column: Column): column is OpenColumn {
  if (column.kind === 'property') return column.isUnread === true
  return column.kind === 'consent' || (column.kind === 'none' && column.name !== undefined)
}

type OpenColumn = Exclude<Column, { kind: 'field' }>

/** Kinds of cells, remembered for the ones that repeat. */
class CellKinds {
  readonly #kinds = new Map<string, CellKind>()

  of(cell: string): CellKind {
    if (cell.length > WORD_CHARACTERS_MAX) return 'other'
    const known = this.#kinds.get(cell)
    if (known) return known
    const kind = kindOfCell(cell)
    if (this.#kinds.size < KNOWN_CELLS_MAX) this.#kinds.set(cell, kind)
    return kind
  }
}

class ColumnSurvey {
  readonly #column: OpenColumn
  readonly #kinds: CellKinds
  readonly #counts: Record<CellKind, number> = {
    ...{ word: 0, left: 0, vague: 0, stays: 0, true: 0, false: 0, date: 0, never: 0, code: 0 },
    ...{ nothing: 0, none: 0, other: 0 },
  }
  readonly #texts = new Map<string, number>()
  readonly #values = new Map<string, QuestionedValue>()
  #isUnclear = false
  #emptyCount = 0
  #empty: QuestionedValue | undefined

  constructor(column: OpenColumn, kinds: CellKinds) {
    this.#column = column
    this.#kinds = kinds
  }

  add(raw: string, row: number, email: string | undefined): void {
    const cell = cellText(raw)
    const column = this.#column
    if (cell === '') {
      this.#emptyCount++
      this.#empty ??= questioned(cell, row, email)
      return
    }
    const kind = this.#kinds.of(cell)
    this.#counts[kind]++
    const isOpen = column.kind === 'consent' ? leftBy(column, cell) === undefined : kind !== 'nothing'
    const count = this.#texts.get(cell)
    if (isOpen && (count !== undefined || this.#texts.size < DISTINCT_MAX))
      this.#texts.set(cell, (count ?? 0) + 1)
    if (column.kind === 'consent' && isUnclear(column, cell)) {
      if (!this.#isUnclear) this.#values.clear()
      this.#isUnclear = true
    } else if (this.#isUnclear || kind === 'nothing') return
    if (this.#values.size >= VALUES_MAX || this.#values.has(cell)) return
    this.#values.set(cell, questioned(cell, row, email))
  }

  /** @param isSaidElsewhere whether the file has a column `unsubscribed` */
  verdict(isSaidElsewhere: boolean): Column | ConsentQuestion {
    const column = this.#column
    const values = { counts: this.#counts, texts: this.#texts, emptyCount: this.#emptyCount }
    if (column.kind === 'consent')
      return this.#isUnclear || mayHideLeaving(column, values) ? this.#question() : column
    const finding = findingOf(nameOf(column), values, isSaidElsewhere)
    if (finding === 'ask') return this.#question()
    if (finding === 'none') return column
    const keeps = column.kind === 'property' ? 'always' : 'never'
    const key = column.kind === 'property' ? { key: column.key } : {}
    return { kind: 'consent', name: nameOf(column), ...key, meaning: finding, keeps, isFound: true }
  }

  #question(): ConsentQuestion {
    const values = [
      ...this.#values.values(),
      ...(this.#empty && !this.#isEmptyAnswered() ? [this.#empty] : []),
    ]
    return { column: nameOf(this.#column), values }
  }

  #isEmptyAnswered(): boolean {
    return this.#column.kind === 'consent' && emptyAnswer(this.#column) !== undefined
  }
}

function questioned(cell: string, row: number, email: string | undefined): QuestionedValue {
  const told = email === undefined ? null : shortened(cellText(email), VALUE_CHARACTERS_MAX)
  return { value: shortened(cell, VALUE_CHARACTERS_MAX), row, email: told }
}

function isUnclear(column: ConsentColumn, cell: string): boolean {
  if (leftBy(column, cell) !== undefined) return false
  if (!mayBeSilent(column.meaning)) return true
  if (hasDoubtfulTag(cell)) return true
  // a number where a state or a choice is expected is a code
  return column.takesCodes === true && kindOfCell(cell) === 'code'
}

function nameOf(column: OpenColumn): string {
  return column.name ?? (column.kind === 'property' ? column.key : '')
}

export function sentenceOf({ column, values }: ConsentQuestion): string {
  const examples = values
    .slice(0, EXAMPLES_TOLD_MAX)
    .map(({ value, row }) => (value === '' ? `an empty cell in row ${row}` : `\`${value}\` in row ${row}`))
  const answer = Object.fromEntries(values.slice(0, EXAMPLES_TOLD_MAX).map(({ value }) => [value, '…']))
  const name = shortened(column, QUESTIONED_NAME_MAX)
  return (
    `The column ${name === '' ? 'without a name' : `\`${name}\``} may say who has left: it has ${examples.join(', ')}. Nothing was imported. Say in ` +
    `\`column_meanings\` which values are \`unsubscribed\` and which are \`subscribed\`, as ` +
    `${JSON.stringify({ [name]: answer })}, or that the column is a \`property\` or to \`ignore\`.`
  )
}
