/** Selected rows of a list, and bulk actions on them. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from '../api/client.ts'
import { count } from '../labels/numbers.ts'
import { Button } from './controls.tsx'
import { say } from './feedback.tsx'

export interface Selection {
  /** Keys of the selected rows, all of which are shown. */
  keys: ReadonlySet<string>
  choose(keys: readonly string[], isChosen: boolean): void
  clear(): void
}

/** @param shown keys of the shown rows; rows that disappear are deselected */
export function useSelection(shown: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  return {
    keys: new Set(shown.filter(key => chosen.has(key))),
    choose(keys, isChosen) {
      const next = new Set(chosen)
      for (const key of keys)
        if (isChosen) next.add(key)
        else next.delete(key)
      setChosen(next)
    },
    clear: () => setChosen(new Set()),
  }
}

/** Toolbar above the list, shown while rows are selected. */
export function Chosen({ selection, children }: { selection: Selection; children: ComponentChildren }) {
  if (selection.keys.size === 0) return null
  return (
    <section class="filters chosen" aria-label="Actions for selected rows">
      <b class="number" role="status">
        {count(selection.keys.size)} selected
      </b>
      <span class="row">{children}</span>
      <Button small kind="plain" icon="cross" onClick={selection.clear}>
        Clear selection
      </Button>
    </section>
  )
}

/**
 * Runs an action for all rows in sequence, even if some fail, and shows a summary.
 * @param done summary of a number of successes, such as "3 emails canceled."
 */
export async function withEach<T>(
  rows: readonly T[],
  work: (row: T) => Promise<unknown>,
  done: (count: number) => string,
): Promise<void> {
  const refusals: ApiError[] = []
  for (const row of rows)
    try {
      await work(row)
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      refusals.push(failure)
    }
  const [first] = refusals
  if (first && refusals.length === rows.length) throw first
  say(
    first
      ? `${done(rows.length - refusals.length)} ${count(refusals.length)} failed: ${first.message}`
      : done(rows.length),
  )
}
