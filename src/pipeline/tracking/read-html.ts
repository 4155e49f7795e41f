/**
 * Pages as all read them who look for something in one: piece by piece, in time by their size, however broken
 * they are.
 */
import { QuoteType, Tokenizer } from 'htmlparser2'

/** What is told of a page; positions count from its beginning, ends are behind. */
export type Pieces = Partial<ConstructorParameters<typeof Tokenizer>[1]>

/** What an `<a>` or `<area>` refers to. */
export interface Href {
  /** Where the value of its `href` stands, without quotes. */
  start: number
  end: number
  /** Which of the page's it is, from 0. */
  number: number
  /** Decoded. */
  value: string
}

export interface OpenTag {
  /** In lower case. */
  name: string
  /** Where its `<` stands. */
  start: number
  /** Behind its `>`. */
  end: number
  /** Undefined for all but links. */
  href: Href | undefined
  /** It is a link that has the attribute `data-no-track`. */
  isExcluded: boolean
}

const LINKING = new Set(['a', 'area'])
const BEFORE_VALUE = /\s*=\s*/y
const ignored = () => {}
const NOTHING = {
  ...{ onattribdata: ignored, onattribentity: ignored, onattribend: ignored, onattribname: ignored },
  ...{ oncdata: ignored, onclosetag: ignored, oncomment: ignored, ondeclaration: ignored, onend: ignored },
  ...{ onopentagend: ignored, onopentagname: ignored, onprocessinginstruction: ignored },
  ...{ onselfclosingtag: ignored, ontext: ignored, ontextentity: ignored },
}

/**
 * What is open is not kept: to look through it at each tag that closes would take as long as both together,
 * multiplied.
 */
export function readHtml(html: string, pieces: Pieces): void {
  const tokenizer = new Tokenizer({ decodeEntities: true }, { ...NOTHING, ...pieces })
  tokenizer.write(html)
  tokenizer.end()
}

/**
 * The pieces that make opening tags.
 *
 * @param onTag called at the end of each that has one
 * @param onQuoted called with where values in quotes stand, without them
 */
export function openTags(
  html: string,
  onTag: (tag: OpenTag) => void,
  onQuoted?: (start: number, end: number) => void,
): Pieces {
  let count = 0
  let tag = { name: '', start: 0, isExcluded: false }
  let isLinking = false
  let isHref = false
  let nameEnd = 0
  let value = ''
  let href: Href | undefined

  const endOfTag = (at: number) => onTag({ ...tag, end: at + 1, href })
  return {
    onopentagname(start, end) {
      const name = html.slice(start, end).toLowerCase()
      tag = { name, start: start - 1, isExcluded: false }
      isLinking = LINKING.has(name)
      isHref = false
      href = undefined
    },
    onattribname(start, end) {
      nameEnd = end
      if (!isLinking) return
      const name = html.slice(start, end).toLowerCase()
      isHref = name === 'href' && href === undefined
      value = ''
      if (name === 'data-no-track') tag.isExcluded = true
    },
    onattribdata(start, end) {
      if (isHref) value += html.slice(start, end)
    },
    onattribentity(codePoint) {
      if (isHref) value += String.fromCodePoint(codePoint)
    },
    onattribend(quote, end) {
      const isQuoted = quote === QuoteType.Single || quote === QuoteType.Double
      if (!isHref && !(onQuoted && isQuoted)) return
      const start = valueStart(html, nameEnd) + (isQuoted ? 1 : 0)
      const valueEnd = isQuoted ? end - 1 : end
      if (isQuoted) onQuoted?.(start, valueEnd)
      if (isHref) href = { start, end: valueEnd, number: count++, value }
      isHref = false
    },
    onopentagend: endOfTag,
    onselfclosingtag: endOfTag,
  }
}

function valueStart(html: string, nameEnd: number): number {
  BEFORE_VALUE.lastIndex = nameEnd
  BEFORE_VALUE.test(html)
  return BEFORE_VALUE.lastIndex
}
