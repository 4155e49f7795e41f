/**
 * Prepares requests and replies for the request log: removes secrets from bodies, paths, queries and user
 * agents, and the contents of attachments, and completes JSON that was cut. In: the beginning of a JSON text,
 * or a text of the request's head. Out: a JSON value, or a text. Bodies are prepared in the writer thread.
 */
/** Stands in place of a secret. */
export const REDACTED = '[redacted]'
/** Keys whose values are secrets, in any spelling. */
const SECRET_KEY =
  /passw(?:or)?d|passphrase|secret|token|(?:api|private|access|auth|signing)[-_ ]?key|authorization|cookie|credential|bearer/i
/** Short words of the same kind at the end of a key: `sig`, `x-auth` and `webhookSig`, not `author`. */
const SECRET_WORD = /(?:^|[^a-z]|[a-z](?=[A-Z]))(?:auth|sig|signature|jwt|otp|pwd|sid|hmac)$/i
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
  [/(\/[ocsu]\/+)[\w.~+-]{16,}/g, `$1${REDACTED}`],
]
/** Name of a parameter of a query or a form, with what precedes it. Its value follows. */
const PARAMETER_NAME = /(?:[?&;]|^)([\w.[\]-]{1,64})=/g
const PARAMETER_VALUE = /[^&;#\s"'<>]*/y
/** Parameter that is named as keys of web services are. Members of JSON have this name for other reasons. */
const KEY_PARAMETER = /^key$/i
const ENCODED_ASCII = /%([2-7][\da-f])/gi
const DECODING_TIMES = 3
/** Shorter texts contain no secret of these forms, except in a URL or a parameter. */
const SECRET_LENGTH_MIN = 19
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
    if (isSecret(key, entry) || (key === 'value' && isSecret(nameIn(value), entry))) copy[key] = REDACTED
    else if (key === 'content' && place === 'attachments') copy[key] = sizeText(entry)
    else copy[key] = redacted(entry, key, depth + 1)
  }
  return copy
}

function isSecret(key: string, value: unknown): boolean {
  if (value === null || value === '' || typeof value === 'boolean') return false
  if (DESCRIBED_KEY.test(key) && typeof value === 'object' && !Array.isArray(value)) return false
  return isSecretName(key)
}

function isSecretName(name: string): boolean {
  return (SECRET_KEY.test(name) || SECRET_WORD.test(name)) && !ABOUT_SECRET_KEY.test(name)
}

/** Name of a pair such as a tag or a header, `{name, value}` or `{key, value}`. */
function nameIn(value: object): string {
  const { name, key } = value as { name?: unknown; key?: unknown }
  return typeof name === 'string' ? name : typeof key === 'string' ? key : ''
}

/** Removes keys, tokens, user info of URLs, and parameters whose names mean secrets from a text. */
export function withoutSecrets(text: string): string {
  if (!mayContainSecret(text)) return text
  const rest = SECRET_TEXTS.reduce((rest, [pattern, head]) => rest.replace(pattern, head), text)
  return rest.includes('=') ? withoutParameters(rest) : rest
}

function mayContainSecret(text: string): boolean {
  return text.length >= SECRET_LENGTH_MIN || /[@=]/.test(text)
}

/** A value that is kept may contain further parameters, as the URL in `next=/a?token=b` does. */
function withoutParameters(text: string): string {
  let rest = ''
  let from = 0
  for (const found of text.matchAll(PARAMETER_NAME)) {
    const valueAt = found.index + found[0].length
    if (valueAt < from || !isSecretParameter(found[1]!)) continue
    PARAMETER_VALUE.lastIndex = valueAt
    rest += text.slice(from, valueAt) + REDACTED
    from = valueAt + PARAMETER_VALUE.exec(text)![0].length
  }
  return rest + text.slice(from)
}

function isSecretParameter(name: string): boolean {
  return isSecretName(name) || KEY_PARAMETER.test(name)
}

/**
 * Removes secrets from a path or a query, whose characters may be percent-encoded (RFC 3986 §2.1).
 * @returns the text with what contains no secret as it was
 */
export function withoutEncodedSecrets(text: string): string {
  if (!text.includes('%') && !mayContainSecret(text)) return text
  return text
    .split('&')
    .map(part => {
      const nameEnd = part.indexOf('=')
      const name = decoded(part.slice(0, Math.max(nameEnd, 0)))
      if (nameEnd >= 0 && isSecretParameter(name)) return `${name}=${REDACTED}`
      const plain = decoded(part)
      const rest = withoutSecrets(plain)
      return rest === plain ? part : rest
    })
    .join('&')
}

/** Decodes ASCII characters. The URL in a parameter is encoded twice. */
function decoded(text: string): string {
  let plain = text
  for (let times = 0; times < DECODING_TIMES && plain.includes('%'); times++)
    plain = plain.replace(ENCODED_ASCII, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return plain
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

/** Ends a text that was cut. */
export const CUT = '…'

/** Token of JSON: bracket, comma or colon, string, or other literal. */
const TOKEN = /[ \t\r\n]*(?:([{[])|([}\]])|([,:])|("[^"\\]*(?:\\[\s\S][^"\\]*)*")|([^ \t\r\n{}[\],:"]+))/y
/** Beginning of a string, up to an escape sequence that may be incomplete. */
const STRING_BEGINNING = /[ \t\r\n]*"[^"\\]*(?:\\(?:u[\da-fA-F]{4}|[^u])[^"\\]*)*/y

/**
 * Drops the incomplete value at the end, or ends it with `CUT` if it is a string, and closes all lists and
 * objects that are open. The result of a text that is not the beginning of valid JSON is not valid, either.
 */
export function closedJson(text: string): string {
  const closing: string[] = []
  let isKey = false
  /** End of the last complete value. */
  let end = 0
  let at = 0
  for (let token = tokenAt(text, at); token; token = tokenAt(text, at)) {
    const [whole, opening, closed, separator, string] = token
    at += whole.length
    if (separator !== undefined) isKey = separator === ',' && closing.at(-1) === '}'
    else if (opening !== undefined) {
      closing.push(opening === '{' ? '}' : ']')
      isKey = opening === '{'
      end = at
    } else if (closed !== undefined) {
      closing.pop()
      isKey = false
      end = at
    } else if (!isKey && (string !== undefined || at < text.length)) end = at
  }
  STRING_BEGINNING.lastIndex = at
  const isInString = !isKey && STRING_BEGINNING.test(text)
  const head = isInString ? `${text.slice(0, STRING_BEGINNING.lastIndex)}${CUT}"` : text.slice(0, end)
  return head + closing.reverse().join('')
}

function tokenAt(text: string, at: number): RegExpExecArray | null {
  TOKEN.lastIndex = at
  return TOKEN.exec(text)
}
