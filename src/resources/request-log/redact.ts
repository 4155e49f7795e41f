/**
 * Prepares bodies of requests and replies for the request log: removes secrets and the contents of
 * attachments, and completes JSON that was cut. In: the beginning of a JSON text. Out: a JSON value.
 * Called in the writer thread.
 */
import { CUT, closedJson } from './closed-json.ts'

/** Stands in place of a secret. */
export const REDACTED = '[redacted]'
/** Keys whose values are secrets, in any spelling. */
const SECRET_KEY =
  /passw(?:or)?d|passphrase|secret|token|api[-_]?key|private[-_]?key|authorization|cookie|credential/i
/** Keys whose objects describe a credential, such as `{kind, id}` in the request log. */
const DESCRIBED_KEY = /^credential$/i
/** Keys about a secret that do not contain it, such as `api_key_id` and `token_start`. */
const ABOUT_SECRET_KEY = /(?:_(?:id|ids|at|start)|I[dD]s?|At)$/
/** Secrets inside texts, with the part that stays. */
const SECRET_TEXTS: readonly [RegExp, string][] = [
  // keys and tokens, which follow a short word; ids contain hyphens
  [/_[A-Za-z0-9+/]{30,}={0,2}/g, `_${REDACTED}`],
  [/([Bb]earer +)[\w.~+/=-]{16,}/g, `$1${REDACTED}`],
  // user and password of a URL
  [/:\/\/[^/?#\s"'<>@]{1,256}@/g, `://${REDACTED}@`],
  // links that give access by themselves
  [/(\/(?:[ocsu]\/|downloads\?token=))[\w.~+-]{16,}/g, `$1${REDACTED}`],
]
/** Shorter texts contain no secret of these forms. */
const SECRET_LENGTH_MIN = 6
/** Deeper values are dropped. The API refuses bodies with more levels. */
const NESTING_MAX = 64

/**
 * @param isCut whether the text is only the beginning of the body
 * @returns undefined for a text that is not JSON
 */
export function loggedBody(text: string, isCut: boolean): unknown {
  let body: unknown
  try {
    body = JSON.parse(isCut ? closedJson(text) : text)
  } catch {
    return undefined
  }
  return redacted(body, '', 0)
}

/** @param place key of the value, or of the list that contains it */
function redacted(value: unknown, place: string, depth: number): unknown {
  if (typeof value === 'string') return withoutSecrets(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === NESTING_MAX) return CUT
  if (Array.isArray(value)) return value.map(entry => redacted(entry, place, depth + 1))
  const copy: Record<string, unknown> = Object.create(null)
  for (const [key, entry] of Object.entries(value)) {
    if (isSecret(key, entry)) copy[key] = REDACTED
    else if (key === 'content' && place === 'attachments') copy[key] = sizeText(entry)
    else copy[key] = redacted(entry, key, depth + 1)
  }
  return copy
}

function isSecret(key: string, value: unknown): boolean {
  if (value === null || value === '' || typeof value === 'boolean') return false
  if (DESCRIBED_KEY.test(key) && typeof value === 'object' && !Array.isArray(value)) return false
  return SECRET_KEY.test(key) && !ABOUT_SECRET_KEY.test(key)
}

function withoutSecrets(text: string): string {
  if (text.length < SECRET_LENGTH_MIN) return text
  return SECRET_TEXTS.reduce((rest, [pattern, kept]) => rest.replace(pattern, kept), text)
}

/** Describes the content of an attachment, in each encoding that the API accepts, by its size. */
function sizeText(content: unknown): string {
  if (typeof content === 'string') {
    const isCut = content.endsWith(CUT)
    const base64 = content.replace(/^data:[^,]*,/, '').replace(/=+$/, '')
    return `[${isCut ? 'more than ' : ''}${Math.floor((base64.length * 3) / 4)} bytes]`
  }
  const bytes = Array.isArray(content) ? content : (content as { data?: unknown } | null)?.data
  return Array.isArray(bytes) ? `[${bytes.length} bytes]` : '[content]'
}
