/** Parses a header section: fields by name, unfolded, in their order (RFC 5322 §2.2). */
import { decodeWords } from './encoded-words.ts'

export interface ReportHead {
  /** Names in lower case; values one character a byte, without the blanks around them. */
  fields: readonly { name: string; value: string }[]
  /** Value of the first field of that name, as it stands. */
  raw(name: string): string | undefined
  /** Decoded value, for display. */
  text(name: string): string | undefined
  all(name: string): string[]
}

const FIELD = /^([!-9;-~]{1,128})[\t ]{0,8}:(.*)$/s
const FIELDS_MAX = 1_000
const HEADER_CHARACTERS_MAX = 256 * 1024
const VALUE_CHARACTERS_MAX = 16 * 1024

/**
 * Reads from `start` to the empty line, or to a line that is no field.
 * @param text lines end in LF @returns where the body begins
 */
export function readReportHead(
  text: string,
  start: number,
  end: number,
): { head: ReportHead; bodyAt: number } {
  const fields: { name: string; value: string }[] = []
  const limit = Math.min(end, start + HEADER_CHARACTERS_MAX)
  let at = start
  while (at < limit) {
    const newline = text.indexOf('\n', at)
    const lineEnd = newline < 0 || newline > limit ? limit : newline
    const line = text.slice(at, lineEnd)
    if (line.trim() === '') return { head: headOf(fields), bodyAt: Math.min(end, lineEnd + 1) }
    const last = fields.at(-1)
    if ((line[0] === ' ' || line[0] === '\t') && last !== undefined) {
      if (last.value.length < VALUE_CHARACTERS_MAX) last.value += `\n${line}`
    } else {
      const found = FIELD.exec(line)
      if (found) {
        if (fields.length < FIELDS_MAX) fields.push({ name: found[1]!.toLowerCase(), value: found[2]! })
      } else if (at > start || !/^>?From /.test(line)) return { head: headOf(fields), bodyAt: at }
    }
    at = lineEnd + 1
  }
  const empty = text.indexOf('\n\n', at - 1)
  return { head: headOf(fields), bodyAt: empty < 0 || empty > end ? end : empty + 2 }
}

function headOf(found: readonly { name: string; value: string }[]): ReportHead {
  const fields = found.map(({ name, value }) => ({ name, value: unfold(value) }))
  const byName = Map.groupBy(fields, ({ name }) => name)
  const raw = (name: string) => byName.get(name)?.[0]?.value
  return {
    fields,
    raw,
    text(name) {
      const value = raw(name)
      return value === undefined ? undefined : decodeWords(value)
    },
    all: name => (byName.get(name) ?? []).map(({ value }) => value),
  }
}

function unfold(value: string): string {
  return value
    .slice(0, VALUE_CHARACTERS_MAX)
    .replace(/\n[\t ]{1,200}/g, ' ')
    .replace(/\n/g, ' ')
    .trim()
}
