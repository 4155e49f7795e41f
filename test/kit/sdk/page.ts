/**
 * The tables of docs/sdks.md that tests observe. `npm run docs:sdks` writes them, every other run compares.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import * as assert from 'uvu/assert'

const page = new URL('../../../docs/sdks.md', import.meta.url)
const LANES = 3
const isWritten = process.env.WRITE_SDK_TABLES === '1'

/** @param section what stands between `<!-- <section> -->` and `<!-- end of <section> -->` */
export function assertDocumented(section: string, text: string): void {
  const [start, end] = [`<!-- ${section} -->`, `<!-- end of ${section} -->`]
  const documented = readFileSync(page, 'utf8')
  const from = documented.indexOf(start) + start.length
  const to = documented.indexOf(end)
  assert.ok(from >= start.length && to > from, `docs/sdks.md has no section ${section}`)
  if (isWritten) {
    writeFileSync(page, `${documented.slice(0, from)}\n${text.trim()}\n${documented.slice(to)}`)
    return
  }
  const [answerText, seen] = [documented.slice(from, to), text].map(part => part.trim().split('\n'))
  const wrong = answerText!.filter(line => !seen!.includes(line))
  const missing = seen!.filter(line => !answerText!.includes(line))
  const message = 'docs/sdks.md is not true any more; `npm run docs:sdks` writes it'
  assert.equal({ wrong, missing }, { wrong: [], missing: [] }, [message, ...wrong, ...missing].join('\n'))
  assert.equal(answerText, seen, message)
}

/** A row of a table; a pipe inside a cell is escaped. */
export function row(...cells: string[]): string {
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

export interface Outcome {
  name: string
  /** Empty where it works. */
  refusal: string
}

/** Lists working calls in a sentence, and refused ones in a table. @param things such as `commands` */
export function outcomesText(things: string, outcomes: readonly Outcome[]): string {
  const names = (some: readonly Outcome[]) => some.map(({ name }) => `\`${name}\``).join(', ')
  const refused = outcomes.filter(({ refusal }) => refusal !== '')
  const working = outcomes.filter(({ refusal }) => refusal === '')
  return [
    `Of ${outcomes.length} ${things}, these ${working.length} work: ${names(working)}.`,
    '',
    `These ${refused.length} are refused:`,
    '',
    '| name | reply |',
    '|---|---|',
    ...refused.map(({ name, refusal }) => row(`\`${name}\``, refusal)),
  ].join('\n')
}

/** Makes each outcome, a few at once. */
export async function inLanes<T>(items: readonly T[], use: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await use(item)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}
