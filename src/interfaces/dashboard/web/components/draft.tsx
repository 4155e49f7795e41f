/** Hook and components for forms whose contents survive leaving the page. */
import { useRef, useState } from 'preact/hooks'
import { draftKey, dropDraft, keepDraft, takeDraft } from '../api/drafts.ts'
import { draftOwner } from '../api/session.ts'
import { Button } from './controls.tsx'
import { Note } from './feedback.tsx'
import { Mark, Time } from './show.tsx'

export interface Draft<T extends object = object> {
  value: T
  set(value: T): void
  /** Sets the named values and keeps the others. */
  change(changes: Partial<T>): void
  /** Returns the props that bind a field of the form to the value with this name. */
  field<Name extends keyof T>(name: Name): { value: T[Name]; onValue: (value: T[Name]) => void }
  /** Whether the contents differ from the saved object. */
  isChanged: boolean
  /** Whether the saved object was changed after editing started, by another user or in another tab. */
  isOutdated: boolean
  /** Time of the restored draft (ISO 8601); undefined if nothing was restored. */
  restoredAt: string | undefined
  /** Returns to the saved object. */
  discard(): void
  /**
   * Called after the contents were saved or sent.
   * @param sent contents that were sent; later changes are kept
   * @param saved object as it is stored now
   */
  settle(sent: T, saved: T, base?: string): void
  /** Returns the current contents, even in a callback of an earlier render. */
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
 * @param name name of the edited object, unique among all forms
 * @param saved contents of the unchanged form
 * @param base version of `saved`, for noticing changes by others
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
  const set = (next: T) => {
    const { value: before, ...rest } = latest.current
    const wasUntouched = JSON.stringify(before) === known.current
    become({ ...rest, value: next, base: wasUntouched ? base : rest.base }, known.current)
  }
  const change = (changes: Partial<T>) => set({ ...latest.current.value, ...changes })
  return {
    value,
    set,
    change,
    field: name => ({
      value: value[name],
      onValue: (next: T[typeof name]) => change({ [name]: next } as unknown as Partial<T>),
    }),
    restoredAt: isChanged ? restoredAt : undefined,
    isChanged,
    isOutdated: isChanged && latest.current.base !== base,
    now: () => latest.current.value,
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

/** Applies a restored draft to the fields that the form still has. */
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
 * Notice that a draft was restored, or that the object was changed elsewhere.
 * @param what object, such as "template" in "This template was changed"
 */
export function DraftNotice({ draft, what }: { draft: Draft; what?: string }) {
  const { restoredAt, isOutdated, discard } = draft
  if (!restoredAt && !isOutdated) return null
  return (
    <Note tone={isOutdated ? 'warn' : 'info'}>
      {restoredAt && (
        <p>
          <b>Unsaved changes restored.</b> They are from <Time at={restoredAt} /> and were not saved or sent.
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

/** State shown beside the Save button of an editor. */
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
