/** Writes JSON values as literals of a programming language. */

export interface LiteralStyle {
  nothing: string
  yes: string
  no: string
  text: (text: string) => string
  /** Key of an object with what stands between it and its value. */
  key: (name: string) => string
  /** Brackets of an object with entries. */
  object: string
  /** An object without entries. */
  noEntries: string
  indent: string
}

/** @param depth number of indents of the line that the literal begins in */
export function literalOf(value: unknown, style: LiteralStyle, depth = 0): string {
  if (value === null || value === undefined) return style.nothing
  if (typeof value === 'boolean') return value ? style.yes : style.no
  if (typeof value === 'string') return style.text(value)
  if (typeof value !== 'object') return String(value)
  const pad = style.indent.repeat(depth + 1)
  const end = style.indent.repeat(depth)
  const lines = (entries: readonly string[]) => entries.map(entry => `${pad}${entry},\n`).join('')
  if (Array.isArray(value))
    return value.length === 0
      ? '[]'
      : `[\n${lines(value.map(one => literalOf(one, style, depth + 1)))}${end}]`
  const entries = Object.entries(value)
  if (entries.length === 0) return style.noEntries
  const [open, close] = style.object
  return `${open}\n${lines(entries.map(([name, one]) => style.key(name) + literalOf(one, style, depth + 1)))}${end}${close}`
}
