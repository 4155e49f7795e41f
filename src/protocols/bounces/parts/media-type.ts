/** Parses `Content-Type` and `Content-Disposition` with their parameters (RFC 2045 §5.1, RFC 2231). */

export interface ReportMediaType {
  /** Media type in lower case, such as `text/plain`. */
  value: string
  /** Lower-case names. */
  params: ReadonlyMap<string, string>
}

const PARAMETER = /;\s{0,20}([^\s=;"]{1,60})\s{0,8}=\s{0,8}(?:"((?:[^"\\]|\\.){0,1000})"?|([^;]{0,1000}))/g
const CHARACTERS_MAX = 4_000

export function readMediaType(field: string | undefined, usual: string): ReportMediaType {
  const text = (field ?? '').slice(0, CHARACTERS_MAX)
  const value = /^[^\s;]+/.exec(text.trimStart())?.[0]?.toLowerCase() ?? usual
  const params = new Map<string, string>()
  for (const [, name, quoted, bare] of text.matchAll(PARAMETER)) {
    // Continuations are joined, a charset in front of an extended value is dropped: only names of files have
    // them.
    const [base] = name!.toLowerCase().split('*')
    const part = quoted === undefined ? bare!.trim() : quoted.replace(/\\(.)/g, '$1')
    const plain = name!.includes('*') ? part.replace(/^[\w-]{1,40}'[\w-]{0,20}'/, '') : part
    params.set(base!, name!.includes('*') ? (params.get(base!) ?? '') + plain : plain)
  }
  return { value: value.includes('/') || usual === '' ? value : usual, params }
}
