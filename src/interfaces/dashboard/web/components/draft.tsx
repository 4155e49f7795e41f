/**
 * Forms whose contents outlive leaving them: one hook for every form with work in it, and what it tells its
 * writer.
 */
import { useRef, useState } from 'preact/hooks'
import { draftKey, dropDraft, keepDraft, takeDraft } from '../api/drafts.ts'
import { draftOwner } from '../shell/session.ts'
import { Button } from './controls.tsx'
import { Note } from './feedback.tsx'
import { Mark, Time } from './show.tsx'

export interface Draft<T extends object = object> {
  value: T
  set(value: T): void
  /** It differs from what is saved. */
  isChanged: boolean
  /** Something else was saved after the editing began, by somebody else or in another tab. */
  isOutdated: boolean
  /** When it was written, in ISO 8601; undefined unless it was found on opening the form. */
  restoredAt: string | undefined
  /** Back to what is saved. */
  discard(): void
  /**
   * It has been saved or sent. @param sent what was; anything written since stays @param saved what is stored
   * now
   */
  settle(sent: T, saved: T, base?: string): void
  /** What is written now, also in a callback that began earlier. */
  now(): T
}

interface State<T> {
  value: T
  base: string
  restoredAt: string | undefined
}

/**
 * State of a form that is kept until it is settled or discarded (`api/drafts.ts`).
 *
 * @param name of the object that is edited, unique among all forms
 * @param saved what the form holds when nothing has been changed
 * @param base a version of `saved`, so that a change by somebody else is noticed
 */
export function useDraft<T extends object>(name: string, saved: T, base = ''): Draft<T> {
  const [key] = useState(() => draftKey(draftOwner(), name))
  const [state, setState] = useState(() => begun(key, saved, base))
  const latest = useRef(state)
  latest.current = state
  const savedText = JSON.stringify(saved)
  const known = useRef(savedText)
  if (known.current !== savedText) {
    const wasUntouched = JSON.stringify(state.value) === known.current
    known.current = savedText
    if (wasUntouched) {
      latest.current = { value: saved, base, restoredAt: undefined }
      setState(latest.current)
    }
  }
  const { value, restoredAt } = latest.current
  const isChanged = JSON.stringify(value) !== savedText

  const become = (next: State<T>, against: string) => {
    latest.current = next
    setState(next)
    if (JSON.stringify(next.value) === against) dropDraft(key)
    else keepDraft(key, { value: next.value, base: next.base, at: Date.now() })
  }
  return {
    value,
    restoredAt: isChanged ? restoredAt : undefined,
    isChanged,
    isOutdated: isChanged && latest.current.base !== base,
    now: () => latest.current.value,
    set(next) {
      const { value: before, ...rest } = latest.current
      const wasUntouched = JSON.stringify(before) === known.current
      become({ ...rest, value: next, base: wasUntouched ? base : rest.base }, known.current)
    },
    discard() {
      become({ value: saved, base, restoredAt: undefined }, savedText)
    },
    settle(sent, stored, storedBase = '') {
      const isSame = JSON.stringify(latest.current.value) === JSON.stringify(sent)
      known.current = JSON.stringify(stored)
      const kept = isSame ? stored : latest.current.value
      become({ value: kept, base: storedBase, restoredAt: undefined }, known.current)
    },
  }
}

/** With what was kept, as far as the form still has such fields. */
function begun<T extends object>(key: string, saved: T, base: string): State<T> {
  const kept = takeDraft(key)
  const found = (kept?.value ?? {}) as Partial<Record<keyof T, unknown>>
  const names = (Object.keys(saved) as (keyof T)[]).filter(name => typeof found[name] === typeof saved[name])
  const value = { ...saved, ...Object.fromEntries(names.map(name => [name, found[name]])) }
  if (!kept || JSON.stringify(value) === JSON.stringify(saved)) {
    if (kept) dropDraft(key)
    return { value: saved, base, restoredAt: undefined }
  }
  return { value, base: kept.base, restoredAt: new Date(kept.at).toISOString() }
}

/**
 * Says that something was restored, or has been changed elsewhere. @param what "template", as in "This
 * template was changed"
 */
export function DraftNotice({ draft, what }: { draft: Draft; what?: string }) {
  const { restoredAt, isOutdated, discard } = draft
  if (!restoredAt && !isOutdated) return null
  return (
    <Note tone={isOutdated ? 'warn' : 'info'}>
      {restoredAt && (
        <p>
          <b>Unsaved changes restored.</b> You made them <Time at={restoredAt} /> and did not save or send
          them.
        </p>
      )}
      {isOutdated && (
        <p>
          <b>This {what ?? 'object'} was changed elsewhere after you began editing.</b> Saving overwrites that
          version; discarding your changes shows it.
        </p>
      )}
      <p>
        <Button small onClick={discard}>
          Discard changes
        </Button>
      </p>
    </Note>
  )
}

/** Beside the Save button of an editor. */
export function DraftState({ draft }: { draft: Draft }) {
  if (!draft.isChanged) return null
  return (
    <span class="row" role="status">
      <Mark tone="warn">Unsaved changes</Mark>
      {!draft.restoredAt && !draft.isOutdated && (
        <Button small kind="plain" onClick={draft.discard}>
          Discard changes
        </Button>
      )}
    </span>
  )
}
