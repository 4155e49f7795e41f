/**
 * Stores unsaved form contents. Each draft is kept in memory, so that it survives leaving its page, and in
 * `localStorage`, so that it survives a reload, a closed tab and an expired session. Every tab has separate
 * records, so that two tabs that edit the same object do not overwrite each other. A draft is dropped once it
 * is saved, sent or discarded.
 */

interface KeptDraft {
  value: object
  /** Version of the saved object when editing started. */
  base: string
  /** Time of the last keystroke, in ms since the epoch. */
  at: number
}

const PREFIX = 'mailhorn.draft.'
const KEPT_MS_MAX = 30 * 86_400_000
const WRITE_DELAY_MS = 250
/** Id of this tab until it is reloaded. */
const TAB = crypto.getRandomValues(new Uint32Array(2)).join('-')

const drafts = new Map<string, KeptDraft>()
/**
 * Records of other tabs, or of this one before a reload, from which drafts were restored. They are removed
 * once they are superseded.
 */
const sources = new Map<string, string>()
/** Keys of drafts that changed since they were last written. */
const waiting = new Set<string>()
/** Keys of drafts that do not fit into the storage of the browser. */
const unwritten = new Set<string>()
let timer: ReturnType<typeof setTimeout> | undefined

/** @param owner user and account, so that other users of this browser do not see the draft */
export function draftKey(owner: string, name: string): string {
  return `${PREFIX}${owner}.${name}`
}

/** Returns the newest draft under the key, of any tab. */
export function takeDraft(key: string): KeptDraft | undefined {
  const own = drafts.get(key)
  if (own) return own
  const [newest] = storedUnder(`${key}|`).sort((a, b) => b.draft.at - a.draft.at)
  if (!newest) return undefined
  drafts.set(key, newest.draft)
  sources.set(key, newest.place)
  return newest.draft
}

/** Tells whether any tab of this browser holds a draft under the key. */
export function hasDraft(key: string): boolean {
  return drafts.has(key) || placesUnder(`${key}|`).length > 0
}

export function keepDraft(key: string, draft: KeptDraft): void {
  drafts.set(key, draft)
  waiting.add(key)
  timer ??= setTimeout(writeAll, WRITE_DELAY_MS)
}

export function dropDraft(key: string): void {
  drafts.delete(key)
  waiting.delete(key)
  unwritten.delete(key)
  localStorage.removeItem(placeOf(key))
  removeSource(key)
}

function removeSource(key: string): void {
  const source = sources.get(key)
  if (source) localStorage.removeItem(source)
  sources.delete(key)
}

/** Counts the drafts of a user in all tabs. */
export function countDrafts(owner: string): number {
  const prefix = draftKey(owner, '')
  writeAll()
  const unwrittenCount = [...unwritten].filter(key => key.startsWith(prefix)).length
  return placesUnder(prefix).length + unwrittenCount
}

export function dropDraftsOf(owner: string): void {
  const prefix = draftKey(owner, '')
  for (const key of [...drafts.keys()]) if (key.startsWith(prefix)) dropDraft(key)
  for (const place of placesUnder(prefix)) localStorage.removeItem(place)
}

/**
 * Writes pending drafts when the page is hidden or left, and asks before leaving if a draft cannot be
 * written.
 */
export function watchDrafts(): void {
  for (const { place, draft } of storedUnder(PREFIX))
    if (draft.at < Date.now() - KEPT_MS_MAX) localStorage.removeItem(place)
  addEventListener('pagehide', writeAll)
  document.addEventListener('visibilitychange', writeAll)
  addEventListener('beforeunload', event => {
    writeAll()
    if (unwritten.size > 0) event.preventDefault()
  })
}

function writeAll(): void {
  clearTimeout(timer)
  timer = undefined
  for (const key of waiting) write(key)
}

function write(key: string): void {
  waiting.delete(key)
  try {
    localStorage.setItem(placeOf(key), JSON.stringify(drafts.get(key)))
    unwritten.delete(key)
    removeSource(key)
  } catch {
    // the draft is too large, or storage is disabled; leaving the page asks first
    unwritten.add(key)
  }
}

function placeOf(key: string): string {
  return `${key}|${TAB}`
}

function placesUnder(prefix: string): string[] {
  return Object.keys(localStorage).filter(place => place.startsWith(prefix))
}

function storedUnder(prefix: string): { place: string; draft: KeptDraft }[] {
  return placesUnder(prefix).flatMap(place => {
    const draft = parsed(localStorage.getItem(place))
    return draft ? [{ place, draft }] : []
  })
}

function parsed(text: string | null): KeptDraft | undefined {
  try {
    const draft = JSON.parse(text ?? '') as Partial<KeptDraft> | null
    const isWhole = typeof draft?.value === 'object' && draft.value !== null && typeof draft.at === 'number'
    return isWhole ? { value: draft.value!, base: String(draft.base ?? ''), at: draft.at! } : undefined
  } catch {
    return undefined // written by another program
  }
}
