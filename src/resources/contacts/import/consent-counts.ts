/** Counts what the imported rows say about leaving, for the notes of the report. */
import { shortened } from '../../../lib/shortened.ts'
import { QUESTIONED_NAME_MAX } from './columns.ts'
import { OPT_OUT, type RowConsent } from './commands.ts'

export class ConsentCounts {
  #left = 0
  readonly #leftBy = new Map<string, number>()
  readonly #silent = new Map<string, number>()

  add(said: readonly RowConsent[]): void {
    for (const { leftBy, silent } of said) {
      if (leftBy.length > 0) this.#left++
      for (const name of new Set(leftBy)) this.#leftBy.set(name, (this.#leftBy.get(name) ?? 0) + 1)
      for (const name of new Set(silent)) this.#silent.set(name, (this.#silent.get(name) ?? 0) + 1)
    }
  }

  notes(): string[] {
    const by = [...this.#leftBy].map(([name, count]) =>
      name === OPT_OUT
        ? `${count} by earlier opt-outs of their addresses`
        : `${count} by the column ${told(name)}`,
    )
    const left = this.#left === 1 ? '1 contact was' : `${this.#left} contacts were`
    return [
      ...(this.#left > 0 ? [`${left} imported as unsubscribed: ${by.join(', ')}.`] : []),
      ...[...this.#silent].map(
        ([name, count]) =>
          `The column ${told(name)} is empty in ${count === 1 ? '1 row' : `${count} rows`}, which it did not unsubscribe.`,
      ),
    ]
  }
}

function told(name: string): string {
  return `\`${shortened(name, QUESTIONED_NAME_MAX)}\``
}
