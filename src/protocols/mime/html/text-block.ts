/**
 * Collects the lines of a text whose blanks and line breaks are requested more often than they are wanted:
 * blanks collapse, and there is at most one empty line in a row. Called by `html-to-text.ts`.
 */

/** Longer indentation is not added, so that nesting cannot make the text much longer than its source. */
const INDENT_LENGTH_MAX = 24
/** Table rows with a longer cell are written cell below cell. */
const CELL_LENGTH_MAX = 80
/** The same for a cell with line breaks in it, which become blanks. */
const BROKEN_CELL_LENGTH_MAX = 40
const WORD_START = /^[\p{L}\p{N}([]/u

export class TextBlock {
  readonly lines: string[] = []
  /** Line breaks requested before the first text: 0, 1, or 2 for an empty line. */
  breaksBefore = 0
  /** Line breaks requested since the last text. */
  breaksAfter = 0
  /** Whether its lines are paragraphs, items or rows, not only separated by line breaks. */
  hasBlocks = false
  /** Whether a break was requested since the last text that is more than the end of a line. */
  #endsBlock = false
  #hasBlank = false
  /** Whether the line ends in a URL that was appended. */
  #endsInUrl = false
  /** Begins each further line. */
  #indent = ''
  /** Begins the next line: the indentation with the marks of list items that have no text yet. */
  #prefix = ''

  /** Adds words. Each run of blanks in them must be one blank. */
  write(words: string): void {
    const from = words.startsWith(' ') ? 1 : 0
    const to = words.length > from && words.endsWith(' ') ? -1 : undefined
    const content = words.slice(from, to)
    if (from > 0) this.#hasBlank = true
    this.writeRaw(content)
    if (content !== '') this.#hasBlank = to === -1
  }

  /** Adds text with the blanks that it begins with. */
  writeRaw(text: string): void {
    if (text === '') return
    if (this.lines.length === 0 || this.breaksAfter > 0) this.#startLine(text)
    else {
      const isApart = this.#hasBlank || (this.#endsInUrl && WORD_START.test(text))
      this.lines[this.lines.length - 1] += isApart ? ` ${text}` : text
    }
    this.#hasBlank = false
    this.#endsInUrl = false
  }

  /** Adds a line as it is. */
  writeLine(line: string): void {
    this.break(1)
    if (line === '') this.break(2)
    else this.#startLine(line)
    this.break(1)
  }

  /** Adds a URL in brackets behind the last text, even if a line break has been requested since. */
  appendUrl(url: string): void {
    const last = this.lines.length - 1
    if (last < 0) this.write(`(${url})`)
    else this.lines[last] += ` (${url})`
    this.#endsInUrl = true
  }

  /** Requests that the next text begins on a new line, or after an empty line. */
  break(count: 1 | 2): void {
    this.#endsBlock = true
    this.#break(count)
  }

  #break(count: 1 | 2): void {
    this.#hasBlank = false
    this.breaksAfter = Math.max(this.breaksAfter, count)
    if (this.lines.length === 0) this.breaksBefore = Math.max(this.breaksBefore, count)
  }

  /** Ends the line; a second time, it leaves an empty line. */
  endLine(): void {
    this.#break(this.breaksAfter === 0 ? 1 : 2)
  }

  /** Adds a finished block as lines of its own. */
  add({ lines, breaksBefore, breaksAfter }: TextBlock): void {
    if (lines.length === 0) return
    this.break(breaksBefore === 2 ? 2 : 1)
    for (const line of lines) this.writeLine(line)
    this.break(breaksAfter === 2 ? 2 : 1)
  }

  /** The text of a table cell in one line; undefined if it is long, or has paragraphs, lists or a table. */
  shortLine(): string | undefined {
    const isBroken = this.lines.length > 1
    if (isBroken && this.hasBlocks) return undefined
    const length = this.lines.reduce((sum, line) => sum + line.length, this.lines.length - 1)
    return length <= (isBroken ? BROKEN_CELL_LENGTH_MAX : CELL_LENGTH_MAX) ? this.lines.join(' ') : undefined
  }

  /**
   * Indents the following lines.
   * @param mark stands in front of the first of them
   * @param indent stands in front of the others, in addition to the present indentation
   * @returns ends the indentation
   */
  indent(mark: string, indent: string): () => void {
    this.hasBlocks = true
    const former = this.#indent
    const isShort = former.length < INDENT_LENGTH_MAX
    if (isShort) this.#indent = former + indent
    const prefix = this.#prefix.length < INDENT_LENGTH_MAX ? this.#prefix + mark : former + mark
    this.#prefix = prefix
    return () => {
      this.#indent = former
      this.#prefix = former
    }
  }

  #startLine(content: string): void {
    if (this.lines.length > 0 && (this.#endsBlock || this.breaksAfter === 2)) this.hasBlocks = true
    this.#endsBlock = false
    if (this.lines.length > 0 && this.breaksAfter === 2) this.lines.push('')
    this.lines.push(this.#prefix + content)
    this.#prefix = this.#indent
    this.#hasBlank = false
    this.breaksAfter = 0
  }
}
