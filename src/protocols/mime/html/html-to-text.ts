/**
 * Derives the plain text of an HTML page, for mail whose sender gives HTML alone. In: HTML, however broken.
 * Out: paragraphs, lists, rows of tables, links with their URLs and the alternative texts of pictures,
 * without what readers of the page do not see. Time and memory are linear in the size of the page.
 *
 * Lines are not wrapped: quoted-printable does this, and mail programs wrap at the width of the window.
 */
import { collapsed } from './blanks.ts'
import { CELLS, LINES, LISTS, PARAGRAPHS, SIBLINGS, TABLE_PARTS, UNSEEN, VOID, words } from './elements.ts'
import { hiddenSelectors, isHiddenPicture, styleEffect } from './hidden-style.ts'
import { isSameUrl, urlOf } from './link-url.ts'
import { hasTooManyTags, readHtml } from './read-html.ts'
import { TextBlock } from './text-block.ts'

/** Larger pages have no text. Gmail cuts pages at 102 KB. */
export const HTML_CHARACTERS_MAX = 512 * 1024
/**
 * Number of characters by which a text may be longer than its page; longer ones are not used. Only pages made
 * of little but list items and rules have longer texts, by their marks and indentation.
 */
export const TEXT_SURPLUS_MAX = 1_000
/** Cells of more deeply nested tables are read like ordinary blocks. */
const CELL_DEPTH_MAX = 16
const CELL_JOINT = ' | '
const RULE = '----------'
/** Of a word and a blank; more than in most languages, so that the estimate errs on the safe side. */
const WORD_CHARACTERS = 10
const LIST_NUMBER_MAX = 1_000_000

const ATTRIBUTES = words('alt class data-skip-in-text height hidden href id start style value width')

interface Link {
  url: string
  words: string
  /** Whether it has words that are too small to be read. */
  isTiny: boolean
}

interface OpenElement {
  name: string
  /** Whether it hides its content. */
  isHidden: boolean
  /** Whether text was too small to be read before it. */
  wasTiny: boolean
  endIndent?: () => void
  link?: Link
  /** For a list: the number of the next item; null for one with bullets. */
  next?: number | null
  /** For a row: the cells with text. */
  cells?: TextBlock[]
  /** For a cell: the block around it. */
  outer?: TextBlock
}

/**
 * @returns undefined if the page has no text, or page or text is too large
 */
export function htmlToText(html: string): string | undefined {
  return textOfPage(html, true)?.text
}

/**
 * @param hasExtras whether the text has URLs and the texts of pictures
 * @returns undefined if page or text is too large, or there is no text
 */
export function textOfPage(
  html: string,
  hasExtras: boolean,
): { text: string; mayBeMostlyExtras: boolean } | undefined {
  if (html.length > HTML_CHARACTERS_MAX || hasTooManyTags(html)) return undefined
  const page = new Page(hasExtras)
  read(html, page)
  const text = page.end()
  if (text === '' || text.length > html.length + TEXT_SURPLUS_MAX) return undefined
  return { text, mayBeMostlyExtras: page.mayBeMostlyExtras }
}

function read(html: string, page: Page) {
  let tag = { name: '', attributes: new Map<string, string>() }
  let attribute = ''
  let value = ''
  const onTag = () => page.open(tag.name, tag.attributes)
  readHtml(html, {
    onopentagname(start, end) {
      tag = { name: html.slice(start, end).toLowerCase(), attributes: new Map() }
    },
    onattribname(start, end) {
      const name = html.slice(start, end).toLowerCase()
      attribute = ATTRIBUTES.has(name) && !tag.attributes.has(name) ? name : ''
      value = ''
    },
    onattribdata(start, end) {
      if (attribute) value += html.slice(start, end)
    },
    onattribentity(codePoint) {
      if (attribute) value += String.fromCodePoint(codePoint)
    },
    onattribend() {
      if (attribute) tag.attributes.set(attribute, value)
      attribute = ''
    },
    onopentagend: onTag,
    onselfclosingtag: onTag,
    onclosetag: (start, end) => page.close(html.slice(start, end).toLowerCase()),
    ontext(start, end) {
      // the tokenizer reports a truncated tag as text with a negative start, or directly after its `<`
      if (start >= 0 && html[start - 1] !== '<') page.text(html.slice(start, end))
    },
    ontextentity: codePoint => page.text(String.fromCodePoint(codePoint)),
  })
}

/** The page up to the present position. */
class Page {
  /** Whether URLs and the texts of pictures are written. */
  readonly #hasExtras: boolean
  /** Number of words in the texts of pictures, and of URLs. */
  #extraCount = 0
  #seenCharacters = 0
  #block = new TextBlock()
  readonly #open: OpenElement[] = []
  /** Positions in `#open` by name, so that a closing tag without its opening one costs no search. */
  readonly #positions = new Map<string, number[]>()
  readonly #links: Link[] = []
  readonly #lists: OpenElement[] = []
  readonly #rows: OpenElement[] = []
  readonly #hiddenSelectors = new Set<string>()
  #hiddenDepth = 0
  #cellDepth = 0
  #preDepth = 0
  #isTiny = false
  /** Text since the last tag: the tokenizer splits it at character references. */
  #text = ''

  constructor(hasExtras: boolean) {
    this.#hasExtras = hasExtras
  }

  /** Whether the page may have fewer words than were added to its text. An estimate that costs nothing. */
  get mayBeMostlyExtras(): boolean {
    return this.#extraCount > 0 && this.#seenCharacters < this.#extraCount * WORD_CHARACTERS
  }

  text(text: string): void {
    this.#text += text
  }

  open(name: string, attributes: ReadonlyMap<string, string>): void {
    this.#flush()
    this.#closeImplied(name)
    if (VOID.has(name)) {
      this.#void(name, attributes)
      return
    }
    const style = attributes.get('style')
    const effect = style === undefined ? undefined : styleEffect(name, style)
    const isHidden = UNSEEN.has(name) || effect?.isHidden || this.#isHiddenBy(attributes)
    const element: OpenElement = { name, isHidden, wasTiny: this.#isTiny }
    this.#isTiny = effect?.isTiny ?? this.#isTiny
    this.#push(element)
    if (isHidden) this.#hiddenDepth++
    if (this.#hiddenDepth === 0) this.#begin(element, attributes)
  }

  close(name: string): void {
    this.#flush()
    // browsers read `</p>` without `<p>` as an empty paragraph, and `</br>` as `<br>`
    if (name === 'br') this.#void('br', new Map())
    const at = this.#lastOf([name])
    const isWithin = name === 'table' || at > this.#lastOf(TABLE_PARTS.has(name) ? ['table'] : CELLS)
    if (at >= 0 && isWithin) this.#closeTo(at)
  }

  end(): string {
    this.#flush()
    this.#closeTo(0)
    return this.#block.lines.join('\n')
  }

  #flush() {
    const text = this.#text
    if (text === '') return
    this.#text = ''
    const last = this.#open.at(-1)
    if (last?.name === 'style')
      for (const selector of hiddenSelectors(text)) this.#hiddenSelectors.add(selector)
    if (this.#hiddenDepth > 0) return
    if (this.#isTiny) {
      const link = this.#links.at(-1)
      if (link) link.isTiny ||= text.trim() !== ''
      return
    }
    this.#seenCharacters += text.length
    if (this.#preDepth === 0) {
      this.#write(collapsed(text))
      return
    }
    for (const [i, line] of text.split(/\r\n|\r|\n/).entries()) {
      if (i > 0) this.#block.endLine()
      this.#block.writeRaw(line.trimEnd())
    }
  }

  #write(text: string) {
    this.#block.write(text)
    const link = this.#links.at(-1)
    if (link && link.words.length <= link.url.length + 20) link.words += text
  }

  #isHiddenBy(attributes: ReadonlyMap<string, string>): boolean {
    if (attributes.has('hidden') || attributes.get('data-skip-in-text') === 'true') return true
    if (this.#hiddenSelectors.size === 0) return false
    const classes = attributes.get('class')?.split(/\s+/) ?? []
    return (
      classes.some(one => this.#hiddenSelectors.has(`.${one}`)) ||
      this.#hiddenSelectors.has(`#${attributes.get('id')}`)
    )
  }

  #void(name: string, attributes: ReadonlyMap<string, string>) {
    if (this.#hiddenDepth > 0) return
    if (name === 'br') this.#block.endLine()
    if (name === 'hr') {
      this.#block.break(2)
      this.#block.write(RULE)
      this.#block.break(2)
    }
    if (!this.#hasExtras) return
    if (name === 'img' && !isHiddenPicture(attributes)) {
      const alt = altOf(attributes)
      this.#extraCount += alt.split(' ').length
      this.#write(alt)
    }
    if (name === 'area') this.#area(altOf(attributes), urlOf(attributes.get('href')))
  }

  /** Writes the link of a part of a picture. */
  #area(words: string, url: string) {
    if (url === '') return
    this.#extraCount++
    this.#block.write(words.trim() === '' ? ` ${url} ` : ` ${words.trim()} (${url}) `)
  }

  /** Begins an element whose content is seen. */
  #begin(element: OpenElement, attributes: ReadonlyMap<string, string>) {
    const { name } = element
    if (LINES.has(name) && name !== 'td' && name !== 'th') this.#block.break(1)
    if (PARAGRAPHS.has(name)) this.#block.break(isNested(name, this.#lists) ? 1 : 2)
    if (LISTS.has(name)) {
      element.next = name === 'ol' ? numberOf(attributes.get('start'), 1) : null
      this.#lists.push(element)
    } else if (name === 'li') this.#beginItem(element, attributes)
    else if (name === 'blockquote') element.endIndent = this.#block.indent('> ', '> ')
    else if (name === 'pre') {
      this.#block.hasBlocks = true
      this.#preDepth++
    } else if (name === 'q') this.#write('“')
    else if (name === 'a') {
      element.link = { url: urlOf(attributes.get('href')), words: '', isTiny: false }
      this.#links.push(element.link)
    } else if (name === 'tr') {
      element.cells = []
      this.#rows.push(element)
    } else if (name === 'td' || name === 'th') {
      const isInRow = this.#open.at(-2)?.name === 'tr'
      if (this.#cellDepth === CELL_DEPTH_MAX || !isInRow) {
        this.#block.break(1)
        return
      }
      element.outer = this.#block
      this.#block = new TextBlock()
      this.#cellDepth++
    }
  }

  #beginItem(element: OpenElement, attributes: ReadonlyMap<string, string>) {
    const list = this.#lists.at(-1)
    let mark = '- '
    if (typeof list?.next === 'number') {
      const number = numberOf(attributes.get('value'), list.next)
      list.next = number + 1
      mark = `${number}. `
    }
    element.endIndent = this.#block.indent(mark, ' '.repeat(mark.length))
  }

  #finish(element: OpenElement) {
    const { name, isHidden, wasTiny, endIndent, link, next, cells, outer } = element
    this.#isTiny = wasTiny
    if (isHidden) this.#hiddenDepth--
    if (this.#hiddenDepth > 0 || isHidden) return
    if (link) this.#finishLink(link)
    if (name === 'q') this.#write('”')
    if (name === 'pre') this.#preDepth--
    if (next !== undefined) this.#lists.pop()
    if (outer) {
      if (this.#block.lines.length > 0) this.#rows.at(-1)!.cells!.push(this.#block)
      this.#block = outer
      this.#cellDepth--
      return
    }
    if (cells) {
      this.#rows.pop()
      this.#finishRow(cells)
    }
    if (LINES.has(name)) this.#block.break(1)
    if (PARAGRAPHS.has(name)) this.#block.break(isNested(name, this.#lists) ? 1 : 2)
    endIndent?.()
  }

  #finishLink({ url, words, isTiny }: Link) {
    this.#links.pop()
    if (!this.#hasExtras || url === '' || (isTiny && words.trim() === '')) return
    this.#extraCount++
    if (words.trim() === '') this.#block.write(` ${url} `)
    else if (!isSameUrl(words, url)) this.#block.appendUrl(url)
  }

  /** Short cells stand in one line, even if they have line breaks. */
  #finishRow(cells: readonly TextBlock[]) {
    const texts = cells.length > 1 ? cells.map(cell => cell.shortLine()) : []
    if (texts.length > 0 && !texts.includes(undefined)) this.#block.writeLine(texts.join(CELL_JOINT))
    else for (const cell of cells) this.#block.add(cell)
  }

  #closeImplied(name: string) {
    const siblings = SIBLINGS.get(name)
    if (siblings) {
      const at = this.#lastOf(siblings.group)
      const boundary = TABLE_PARTS.has(name) ? ['table'] : CELLS
      if (at >= 0 && at > this.#lastOf([...siblings.within, ...boundary])) this.#closeTo(at)
    } else if (this.#open.at(-1)?.name === 'p' && (PARAGRAPHS.has(name) || LINES.has(name)))
      this.#closeTo(this.#open.length - 1)
  }

  /** Position of the last open element of these names; -1 if there is none. */
  #lastOf(names: readonly string[]): number {
    let last = -1
    for (const name of names) last = Math.max(last, this.#positions.get(name)?.at(-1) ?? -1)
    return last
  }

  #push(element: OpenElement) {
    const positions = this.#positions.get(element.name)
    if (positions) positions.push(this.#open.length)
    else this.#positions.set(element.name, [this.#open.length])
    this.#open.push(element)
  }

  /** Closes the open elements from the last one to this position. */
  #closeTo(at: number) {
    while (this.#open.length > at) {
      const element = this.#open.pop()!
      this.#positions.get(element.name)!.pop()
      this.#finish(element)
    }
  }
}

function altOf(attributes: ReadonlyMap<string, string>): string {
  return collapsed(attributes.get('alt') ?? '')
}

/** Lists in lists have no empty lines around them. */
function isNested(name: string, lists: readonly OpenElement[]): boolean {
  return LISTS.has(name) && lists.length > 0
}

function numberOf(text: string | undefined, otherwise: number): number {
  const number = Number.parseInt(text ?? '', 10)
  return Number.isNaN(number) ? otherwise : Math.max(-LIST_NUMBER_MAX, Math.min(LIST_NUMBER_MAX, number))
}
