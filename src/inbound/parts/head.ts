/** The head of a received message, or of a part of it: its fields as they came, in their order (RFC 5322 §2.2). */

export interface Field {
  /** As it was written. */
  name: string
  /** Unfolded, one character a byte, without the blanks around it. */
  value: string
}

export interface Head {
  fields: readonly Field[]
  /** Value of the first field of that name, given in lower case. */
  raw(name: string): string | undefined
  /** Something of it is not told. */
  isCut: boolean
}

const MOST_FIELDS = 1_000
const MOST_BYTES = 256 * 1024
const LONGEST_VALUE = 64 * 1024
const LF = 0x0a
const FIELD = /^([!-9;-~]{1,128})[\t ]{0,8}:(.*)$/s
/** The first line of a mailbox file, which some programs leave in place. */
const MBOX_LINE = /^>?From /

/**
 * Reads from `start` to the empty line, or to a line that is no field, or to the end.
 * @param isBoundary whether a line begins something else, although the head has not ended
 * @returns where the body begins
 */
export function readHead(
  bytes: Buffer,
  start: number,
  end: number,
  isBoundary: (line: string) => boolean,
): { head: Head; bodyAt: number } {
  const found: { name: string; value: string }[] = []
  const limit = Math.min(end, start + MOST_BYTES)
  let isCut = false
  let at = start
  for (let next = at; at < limit; at = next) {
    const newline = bytes.subarray(at, limit).indexOf(LF)
    next = newline < 0 ? limit : at + newline + 1
    const line = bytes.toString('latin1', at, next).replace(/\r?\n$/, '')
    const last = found.at(-1)
    if (line === '' || (line.trim() === '' && !last)) return { head: headOf(found, isCut), bodyAt: next }
    if (/^[ \t]/.test(line) && last) {
      if (last.value.length + line.length <= LONGEST_VALUE) last.value += line
      else isCut = true
      continue
    }
    const [, name, value] = FIELD.exec(line) ?? []
    if (line.startsWith('--') && isBoundary(line)) return { head: headOf(found, isCut), bodyAt: at }
    if (name === undefined) {
      if (at === start && MBOX_LINE.test(line)) continue
      return { head: headOf(found, isCut), bodyAt: at }
    }
    if (found.length === MOST_FIELDS || value!.length > LONGEST_VALUE) isCut = true
    if (found.length < MOST_FIELDS) found.push({ name, value: value!.slice(0, LONGEST_VALUE) })
  }
  const bodyAt = at < end ? afterEmptyLine(bytes, at, end) : end
  return { head: headOf(found, isCut || at < end), bodyAt }
}

/** Of a head that is longer than what is read of it. */
function afterEmptyLine(bytes: Buffer, from: number, end: number): number {
  const empty = bytes.subarray(0, end).indexOf('\r\n\r\n', from - 2, 'latin1')
  return empty < 0 ? end : empty + 4
}

function headOf(found: readonly Field[], isCut: boolean): Head {
  const fields = found.map(({ name, value }) => ({ name, value: value.trim() }))
  const first = new Map<string, string>()
  for (const { name, value } of fields) {
    const key = name.toLowerCase()
    if (!first.has(key)) first.set(key, value)
  }
  return { fields, raw: name => first.get(name), isCut }
}
