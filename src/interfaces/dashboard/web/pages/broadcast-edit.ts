/**
 * State of the broadcast editor. A draft is saved on the server while it is edited and when the page is left,
 * only over the version that was loaded. What cannot be saved is kept in the browser.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, call } from '../api/client.ts'
import type { Broadcast } from '../api/types.ts'
import { type Draft, useDraft } from '../components/draft.tsx'
import { mailboxesIn } from '../labels/mailboxes.ts'
import { type BroadcastFiles, type Reattach, useBroadcastFiles } from './broadcast-files.ts'

/** Delay of saving after the first keystroke that is not saved. */
const SAVE_DELAY_MS = 2_000
/** Delay before another attempt when the service could not be reached, or failed. */
const RETRY_DELAY_MS = 10_000
/** Browsers finish a larger request only while its page is open. */
const KEEPALIVE_CHARACTERS_MAX = 15_000

const FIELDS = [
  'name',
  'from',
  'subject',
  'preview_text',
  'reply_to',
  'audience_id',
  'segment_id',
  'topic_id',
  'html',
  'text',
] as const

export type BroadcastText = Record<(typeof FIELDS)[number], string>

export function isBroadcastField(path: string): boolean {
  return FIELDS.some(field => field === path)
}

export interface BroadcastEdit {
  draft: Draft<BroadcastText>
  /** Contents of the form: those of the server where the broadcast is not edited. */
  shown: BroadcastText
  /** Error of the last attempt to save. */
  failure: SaveFailure | undefined
  isSaving: boolean
  files: BroadcastFiles
  /** Whether the broadcast is sent without a text part while its text is empty. */
  hasNoText: boolean
  /** Saves the changes over a version that somebody else has saved meanwhile. */
  keepMine(): void
  /** Drops the changes and shows what is saved. */
  discard(): void
  /**
   * Saves pending changes, then calls `next` with the stored broadcast, or shows why saving failed.
   * @param act consequence of a failure, such as "Nothing was sent"
   */
  afterSaving(act: string, next: (saved: Broadcast) => void): void
}

export interface SaveFailure {
  error: ApiError
  /** Consequence of the failure, if it is more than that nothing was saved. */
  act?: string
  /** Contents that were not saved, as JSON. */
  text: string
}

function textOf(broadcast: Broadcast): BroadcastText {
  const fields = { ...broadcast, reply_to: broadcast.reply_to.join(', ') }
  return Object.fromEntries(FIELDS.map(field => [field, fields[field] ?? ''])) as BroadcastText
}

export function useBroadcastEdit(broadcast: Broadcast, put: (broadcast: Broadcast) => void): BroadcastEdit {
  const stored = useRef(broadcast)
  stored.current = broadcast
  const shown = textOf(broadcast)
  const draft = useDraft(`broadcast.${broadcast.id}`, shown, broadcast.version)
  const [failure, setFailure] = useState<SaveFailure>()
  const [isSaving, setSaving] = useState(false)
  const isUnsaved = () => JSON.stringify(draft.now()) !== JSON.stringify(textOf(stored.current))
  const { savedAll, savedWith, isRunning } = useSaving(draft, stored, put)
  /** Shows the other version after a refusal because of it. */
  const showOther = async () => put(await call<Broadcast>('GET', `/broadcasts/${broadcast.id}`))

  const attempt = async (act?: string, next?: (saved: Broadcast) => void) => {
    setSaving(true)
    try {
      const saved = isUnsaved() || isRunning() ? await savedAll() : stored.current
      setFailure(undefined)
      next?.(saved)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const text = JSON.stringify(draft.now())
      // the choice between both versions is shown instead
      if (error.of('version')) await showOther()
      else setFailure({ error, text, ...(act && { act }) })
    } finally {
      setSaving(isRunning())
    }
  }

  const files = useBroadcastFiles(broadcast.attachments, async reattach => {
    if (draft.isOutdated) return showConflict()
    setSaving(true)
    try {
      await savedWith(reattach)
      setFailure(undefined)
    } catch (error) {
      if (error instanceof ApiError && error.of('version')) await showOther()
      throw error
    } finally {
      setSaving(isRunning())
    }
  })

  const isEdited = broadcast.status === 'draft' && draft.isChanged && !draft.isOutdated
  const isRefused = failure?.text === JSON.stringify(draft.value)
  const isWorthRetrying = failure !== undefined && (failure.error.status === 0 || failure.error.status >= 429)
  const isDue = isEdited && !isSaving && (!isRefused || isWorthRetrying)
  useEffect(() => {
    if (!isDue) return
    const timer = setTimeout(() => void attempt(), isRefused ? RETRY_DELAY_MS : SAVE_DELAY_MS)
    return () => clearTimeout(timer)
  }, [isDue, isRefused])

  useLeaving(isPageGone => {
    if (isEdited && !isRefused && isUnsaved() && !isRunning()) void savedAll(isPageGone).catch(keptInBrowser)
  })
  return {
    draft,
    shown: broadcast.status === 'draft' ? draft.value : shown,
    failure: draft.isChanged && !draft.isOutdated ? failure : undefined,
    isSaving,
    files,
    // only a client of the API opts out of the text that is derived from the HTML
    hasNoText: broadcast.text === '',
    keepMine: () => void attempt(),
    discard() {
      draft.discard()
      setFailure(undefined)
    },
    afterSaving(act, next) {
      if (broadcast.status !== 'draft') next(broadcast)
      else if (!draft.isOutdated) void attempt(act, next)
      else showConflict()
    },
  }
}

/** Shows the choice between both versions. */
function showConflict() {
  document.querySelector('.conflict button')?.scrollIntoView({ block: 'center' })
}

/**
 * Returns functions that save until nothing is left to save, the second together with the files, and one that
 * tells whether one of them is running.
 */
function useSaving(
  draft: Draft<BroadcastText>,
  stored: { current: Broadcast },
  put: (broadcast: Broadcast) => void,
) {
  const running = useRef<Promise<Broadcast>>()
  const store = async (over: Broadcast, isPageGone: boolean, reattach?: Reattach): Promise<Broadcast> => {
    const sent = draft.now()
    const { name, text, reply_to, ...body } = sent
    const replyTo = mailboxesIn(reply_to)
    const hasNoText = over.text === ''
    const saved = await call<Broadcast>(
      'PATCH',
      `/broadcasts/${over.id}`,
      {
        ...body,
        ...(text === '' && !hasNoText ? { derive_text: true } : { text }),
        // an empty address removes what is stored
        reply_to: replyTo.length > 0 ? replyTo : [''],
        name: name || null,
        ...(reattach && { attachments: reattach(over.attachments) }),
        version: over.version,
      },
      { keepalive: isPageGone && body.html.length + text.length < KEEPALIVE_CHARACTERS_MAX },
    )
    draft.settle(sent, textOf(saved), saved.version)
    stored.current = saved
    put(saved)
    return saved
  }
  const storeAll = async (isPageGone: boolean, reattach?: Reattach): Promise<Broadcast> => {
    let saved = await store(stored.current, isPageGone, reattach)
    // changes made during a request are saved by a further one
    while (JSON.stringify(draft.now()) !== JSON.stringify(textOf(saved)))
      saved = await store(saved, isPageGone)
    return saved
  }
  const begun = (work: Promise<Broadcast>): Promise<Broadcast> => {
    running.current = work.finally(() => {
      running.current = undefined
    })
    return running.current
  }
  return {
    isRunning: () => running.current !== undefined,
    savedAll: (isPageGone = false) => running.current ?? begun(storeAll(isPageGone)),
    async savedWith(reattach: Reattach): Promise<Broadcast> {
      while (running.current) await running.current.catch(() => {}) // who began it shows its error
      return begun(storeAll(false, reattach))
    },
  }
}

/** Calls the function when the page is left: by a link, or with the tab, the window or the browser. */
function useLeaving(leave: (isPageGone: boolean) => void) {
  const latest = useRef(leave)
  latest.current = leave
  useEffect(() => {
    const onHidden = () => {
      if (document.hidden) latest.current(true)
    }
    document.addEventListener('visibilitychange', onHidden)
    return () => {
      document.removeEventListener('visibilitychange', onHidden)
      latest.current(false)
    }
  }, [])
}

/** Ignores a refusal after the page was left: the changes stay in the browser, and the list marks them. */
function keptInBrowser(error: unknown): void {
  if (!(error instanceof ApiError)) throw error
}
