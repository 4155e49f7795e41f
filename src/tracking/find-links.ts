/** Where an HTML text can be tracked: its links, and the place of the pixel. It is only looked at, and never written anew. */
import { QuoteType, Tokenizer } from 'htmlparser2'

/** A link that leads to the web. */
export interface HtmlLink {
  /** Where the value of its `href` stands, without quotes. */
  start: number
  end: number
  /** An `http` or `https` URL in printable ASCII. */
  target: string
}

export interface LinkPlan {
  links: HtmlLink[]
  /** Where the pixel goes: before the last `</body>`, else the last `</html>`, else behind all that is whole. */
  pixelAt: number
}

/** In octets; a longer one would not pass every proxy once it is signed. It is left as it is. */
export const LONGEST_TARGET = 2_048
/** Further ones are left as they are. */
const MOST_LINKS = 2_000
const LINKING = new Set(['a', 'area'])
const WEB = /^https?:\/\//i
/** What browsers leave out of URLs (WHATWG URL §4.4). */
const OUTER_BLANKS = /^[\0- ]+|[\0- ]+$/g
const INNER_BREAKS = /[\t\n\r]+/g
const PRINTABLE_ASCII = /^[!-~]+$/
const BEFORE_VALUE = /\s*=\s*/y

/** Any text will do, however broken: what browsers would not take for a link is none. */
export function findLinks(html: string): LinkPlan {
  const links: HtmlLink[] = []
  let bodyEnd = -1
  let htmlEnd = -1
  let wholeEnd = 0
  let element = ''
  let attribute = ''
  let nameEnd = 0
  let value = ''
  let isFresh = true
  let href: { start: number; end: number; value: string } | undefined
  let isExcluded = false

  const endOfTag = (end: number) => {
    wholeEnd = end + 1
    const target = href && !isExcluded ? webTarget(href.value) : undefined
    if (target !== undefined && links.length < MOST_LINKS)
      links.push({ start: href!.start, end: href!.end, target })
    element = ''
  }
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        const name = html.slice(start, end).toLowerCase()
        element = LINKING.has(name) ? name : ''
        href = undefined
        isExcluded = false
      },
      onattribname(start, end) {
        if (element === '') return
        attribute = html.slice(start, end).toLowerCase()
        nameEnd = end
        value = ''
        isFresh = attribute === 'href' && href === undefined
        if (attribute === 'data-no-track') isExcluded = true
      },
      onattribdata(start, end) {
        if (element !== '' && isFresh) value += html.slice(start, end)
      },
      onattribentity(codePoint) {
        if (element !== '' && isFresh) value += String.fromCodePoint(codePoint)
      },
      onattribend(quote, end) {
        if (element === '' || !isFresh) return
        const quoteLength = quote === QuoteType.Single || quote === QuoteType.Double ? 1 : 0
        href = { start: valueStart(html, nameEnd) + quoteLength, end: end - quoteLength, value }
      },
      onopentagend: endOfTag,
      onselfclosingtag: endOfTag,
      onclosetag(start, end) {
        const name = html.slice(start, end).toLowerCase()
        if (name === 'body') bodyEnd = html.lastIndexOf('<', start)
        else if (name === 'html') htmlEnd = html.lastIndexOf('<', start)
        const tagEnd = html.indexOf('>', end)
        if (tagEnd >= 0) wholeEnd = tagEnd + 1
      },
      oncomment(_start, end, isClosed) {
        if (isClosed > 0) wholeEnd = end + 1
      },
      ontext(_start, end) {
        wholeEnd = end
      },
      ontextentity(_codePoint, end) {
        wholeEnd = end
      },
      oncdata() {},
      ondeclaration() {},
      onprocessinginstruction() {},
      onend() {},
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  return { links, pixelAt: bodyEnd >= 0 ? bodyEnd : htmlEnd >= 0 ? htmlEnd : wholeEnd }
}

function valueStart(html: string, nameEnd: number): number {
  BEFORE_VALUE.lastIndex = nameEnd
  BEFORE_VALUE.test(html)
  return BEFORE_VALUE.lastIndex
}

/** Where a browser would go, as a header can carry it; undefined where that is not the web, or too long to say. */
function webTarget(href: string): string | undefined {
  const text = href.replace(OUTER_BLANKS, '').replace(INNER_BREAKS, '')
  const url = WEB.test(text) ? URL.parse(text) : null
  if (url === null) return undefined
  const target = PRINTABLE_ASCII.test(text) ? text : url.href
  return target.length <= LONGEST_TARGET ? target : undefined
}
