/**
 * State of the broadcast editor. It keeps unsaved changes and saves only over the version that was loaded.
 */
import { useState } from 'preact/hooks'
import { ApiError, call } from '../api/client.ts'
import type { Broadcast } from '../api/types.ts'
import { type Draft, useDraft } from '../components/draft.tsx'
import { say } from '../components/feedback.tsx'

const FIELDS = [
  'name',
  'from',
  'subject',
  'preview_text',
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
  /** Error of the last attempt to save. */
  failure: SaveFailure | undefined
  isBusy: boolean
  /** Whether the broadcast is sent without a text part while its text is empty. */
  hasNoText: boolean
  /** Saves the changes. */
  save(): void
  /**
   * Saves pending changes, then calls `next` with the stored broadcast, or shows why saving failed.
   * @param act consequence of a failure, such as "Nothing was sent"
   */
  afterSaving(act: string, next: (saved: Broadcast) => void): void
}

export interface SaveFailure {
  error: ApiError
  act: string
}

function textOf(broadcast: Broadcast): BroadcastText {
  return Object.fromEntries(FIELDS.map(field => [field, broadcast[field] ?? ''])) as BroadcastText
}

export function useBroadcastEdit(broadcast: Broadcast, put: (broadcast: Broadcast) => void): BroadcastEdit {
  const { id, version } = broadcast
  const draft = useDraft(`broadcast.${id}`, textOf(broadcast), version)
  const [failure, setFailure] = useState<SaveFailure>()
  const [isBusy, setBusy] = useState(false)

  // only a client of the API opts out of the text that is derived from the HTML
  const hasNoText = broadcast.text === ''

  const store = async (over: string): Promise<Broadcast> => {
    const sent = draft.now()
    const { name, text, ...body } = sent
    const saved = await call<Broadcast>('PATCH', `/broadcasts/${id}`, {
      ...body,
      ...(text === '' && !hasNoText ? { derive_text: true } : { text }),
      name: name || null,
      version: over,
    })
    draft.settle(sent, textOf(saved), saved.version)
    put(saved)
    return saved
  }
  /** Changes made during the request are saved by a further one. */
  const storeAll = async (): Promise<Broadcast> => {
    let saved = await store(version)
    while (JSON.stringify(draft.now()) !== JSON.stringify(textOf(saved))) saved = await store(saved.version)
    return saved
  }
  const attempt = async (act: string, work: () => Promise<void>) => {
    setBusy(true)
    setFailure(undefined)
    try {
      await work()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFailure({ error, act })
      // the draft notice explains what to do
      if (error.of('version')) put(await call<Broadcast>('GET', `/broadcasts/${id}`))
    } finally {
      setBusy(false)
    }
  }
  return {
    draft,
    failure,
    isBusy,
    hasNoText,
    save: () =>
      void attempt('The broadcast was not saved', async () => {
        await store(version)
        say('Broadcast saved.')
      }),
    afterSaving: (act, next) =>
      void attempt(act, async () => {
        if (draft.isOutdated) throw CHANGED_ELSEWHERE
        next(draft.isChanged ? await storeAll() : broadcast)
      }),
  }
}

const CHANGED_ELSEWHERE = new ApiError(
  422,
  'validation_error',
  'This broadcast was changed elsewhere. Save or discard your changes, then try again.',
)
