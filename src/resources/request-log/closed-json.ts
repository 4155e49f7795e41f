/** Completes a JSON text that was cut at any place. */

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
  const kept = isInString ? `${text.slice(0, STRING_BEGINNING.lastIndex)}${CUT}"` : text.slice(0, end)
  return kept + closing.reverse().join('')
}

function tokenAt(text: string, at: number): RegExpExecArray | null {
  TOKEN.lastIndex = at
  return TOKEN.exec(text)
}
