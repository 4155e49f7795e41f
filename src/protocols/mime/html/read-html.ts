/** Reads HTML as a stream of tokens, in linear time, however broken it is. */
import { QuoteType, Tokenizer } from 'htmlparser2'

/** Callbacks of the tokenizer. Positions count from the start of the page; an end is exclusive. */
type HtmlCallbacks = Partial<ConstructorParameters<typeof Tokenizer>[1]>

/** The `href` of an `<a>` or `<area>`. */
export interface Href {
  /** Start of the value, without quotes. */
  start: number
  end: number
  /** Index among the links of the page, from 0. */
  number: number
  /** Value with character references decoded. */
  value: string
}

export interface OpenTag {
  /** Lower-case name. */
  name: string
  /** Position of `<`. */
  start: number
  /** Position after `>`. */
  end: number
  /** Undefined for elements that are not links. */
  href: Href | undefined
  /** Whether an attribute of the link says that it is not tracked, see `isNotTracked`. */
  isExcluded: boolean
}

/** Pages with more `<` consist of little but tags, which cost more than characters. They get no text part. */
export const TAGS_MAX = 65_536
const LINKING = new Set(['a', 'area'])
const BEFORE_VALUE = /\s*=\s*/y
/** Names without punctuation that exclude a link unless the value is false. */
const EXCLUDING_NAMES =
  /(?:no|not|un|dont|donot|disable|without|skip|exclude(?:from)?)(?:click|link)*track|dontconvertlink/
/** Names that exclude a link if the value is false. */
const TRACKING_NAMES =
  /^(?:data)?[a-z]*(?:click|link|auto)track(?:ing|ed|er)?$|^(?:data)?[a-z]{0,12}track(?:ing)?$/
const FALSE_VALUES = /^(?:false|off|no|none|0|disabled?)$/
const UNTRACKED_CLASSES = /^(?:untracked|do-?not-?track|no-?track(?:ing)?|inf-track-no)$/
const ignored = () => {}
const NOTHING = {
  onattribdata: ignored,
  onattribentity: ignored,
  onattribend: ignored,
  onattribname: ignored,
  oncdata: ignored,
  onclosetag: ignored,
  oncomment: ignored,
  ondeclaration: ignored,
  onend: ignored,
  onopentagend: ignored,
  onopentagname: ignored,
  onprocessinginstruction: ignored,
  onselfclosingtag: ignored,
  ontext: ignored,
  ontextentity: ignored,
}

/** Keeps no stack of open elements, because searching it at each closing tag would take quadratic time. */
export function readHtml(html: string, pieces: HtmlCallbacks): void {
  // without references to decode, the tokenizer skips text instead of looking at each character
  const decodeEntities = html.includes('&')
  const tokenizer = new Tokenizer({ decodeEntities }, { ...NOTHING, ...pieces })
  tokenizer.write(html)
  tokenizer.end()
}

export function hasTooManyTags(html: string): boolean {
  let count = 0
  for (let at = html.indexOf('<'); at >= 0 && count <= TAGS_MAX; at = html.indexOf('<', at + 1)) count++
  return count > TAGS_MAX
}

/**
 * Callbacks that assemble opening tags.
 * @param onTag is called at the end of each complete tag
 * @param onQuoted is called with the range of each quoted value, without quotes
 */
export function openTags(
  html: string,
  onTag: (tag: OpenTag) => void,
  onQuoted?: (start: number, end: number) => void,
): HtmlCallbacks {
  let count = 0
  let tag = { name: '', start: 0, isExcluded: false }
  let isLinking = false
  let isHref = false
  let optOut = ''
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
      optOut = ''
      href = undefined
    },
    onattribname(start, end) {
      nameEnd = end
      if (!isLinking) return
      const name = html.slice(start, end).toLowerCase()
      isHref = name === 'href' && href === undefined
      optOut = !isHref && mayOptOut(name) ? name : ''
      value = ''
    },
    onattribdata(start, end) {
      if (isHref || optOut) value += html.slice(start, end)
    },
    onattribentity(codePoint) {
      if (isHref || optOut) value += String.fromCodePoint(codePoint)
    },
    onattribend(quote, end) {
      if (optOut && isNotTracked(optOut, value)) tag.isExcluded = true
      optOut = ''
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

/** Whether the value of the attribute must be read. */
function mayOptOut(name: string): boolean {
  return name === 'class' || name.includes('track') || name.includes('convertlink')
}

/**
 * Whether an attribute excludes its link from click tracking. Each email service has its own, and mail
 * that was written for one keeps it: `clicktracking="off"` (SendGrid), `data-pm-no-track` (Postmark),
 * `data-msys-clicktrack="0"` (SparkPost), `ses:no-track` (Amazon SES), `mc:disable-tracking` (Mailchimp,
 * Mandrill), `disable-tracking="true"` (Mailgun), `autotrack="false"` (MessageGears), `cm_dontconvertlink`
 * (Campaign Monitor), `nottracked` (Infusionsoft), `class="untracked"` (Customer.io). The names are read by
 * their words, so that others of the kind count, too.
 *
 * @param name name in lower case for which `mayOptOut` is true
 */
function isNotTracked(name: string, value: string): boolean {
  const folded = value.trim().toLowerCase()
  if (name === 'class') return folded.split(/\s+/).some(one => UNTRACKED_CLASSES.test(one))
  const plain = name.replace(/[^a-z]/g, '')
  return EXCLUDING_NAMES.test(plain)
    ? !FALSE_VALUES.test(folded)
    : TRACKING_NAMES.test(plain) && FALSE_VALUES.test(folded)
}
