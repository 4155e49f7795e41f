/** Turns what a person chooses about columns of a contact file into the `column_meanings` of the API. */
import type { ColumnQuestion } from '../api/client.ts'

/** What a column is: not chosen yet, a property, not imported, or one whose values say who has left. */
export type ColumnUse = '' | 'property' | 'ignore' | 'values'

export interface ColumnAnswer {
  use: ColumnUse
  /** Values of the column that mean `unsubscribed`; the others mean `subscribed`. */
  left: readonly string[]
}

export type ColumnAnswers = Readonly<Record<string, ColumnAnswer>>

/** A question lists no more values than these; the others have one answer. */
const VALUES_LISTED = 12
export const OTHER_VALUES = '*'

/** The values that are chosen from, with one for those that the question does not list. */
export function choicesOf({ values }: ColumnQuestion): string[] {
  const listed = values.map(({ value }) => value)
  return listed.length < VALUES_LISTED ? listed : [...listed, OTHER_VALUES]
}

export function isAnswered(questions: readonly ColumnQuestion[], answers: ColumnAnswers): boolean {
  return questions.every(({ column }) => (answers[column]?.use ?? '') !== '')
}

/**
 * Adds the answers to those of earlier questions about the same file.
 * @returns the value of `column_meanings`
 */
export function meaningsOf(
  questions: readonly ColumnQuestion[],
  answers: ColumnAnswers,
  earlier: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const given = questions.flatMap((question): [string, unknown][] => {
    const { use, left } = answers[question.column] ?? { use: '', left: [] }
    if (use !== 'values') return use === '' ? [] : [[question.column, use]]
    const values = choicesOf(question).map(value => [
      value,
      left.includes(value) ? 'unsubscribed' : 'subscribed',
    ])
    const known = earlier[question.column]
    return [[question.column, { ...(typeof known === 'object' ? known : {}), ...Object.fromEntries(values) }]]
  })
  return { ...earlier, ...Object.fromEntries(given) }
}
