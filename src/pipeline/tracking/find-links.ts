/**
 * Where an HTML text can be tracked: its links, and the place of the pixel. It is only looked at, and never
 * written anew.
 */
import { LAST_NUMBER } from './link-numbers.ts'
import { type Href, type OpenTag, openTags, readHtml } from './read-html.ts'

export interface PageParts {
  /** But for those that are not to be tracked. */
  hrefs: Href[]
  /**
   * Where the pixel goes: before the last `</body>`, else the last `</html>`, else behind all that is whole.
   */
  pixelAt: number
  /** There is neither `</body>` nor `</html>`. */
  hasNoEnd: boolean
}

/** A link that leads to the web. */
export interface HtmlLink extends Pick<Href, 'start' | 'end'> {
  /** Of the page, or of the template that it was made of; null where a value has brought it. */
  number: number | null
  /** An `http` or `https` URL in printable ASCII. */
  target: string
}

export interface LinkPlan extends Pick<PageParts, 'pixelAt'> {
  links: HtmlLink[]
}

/** In octets; a longer one would not pass every proxy once it is signed. It is left as it is. */
export const TARGET_LENGTH_MAX = 2_048
/** Further ones are left as they are. */
const HREFS_MAX = 2_000
/** Nothing but their own closing tags ends what is in them. */
const RAW = new Set('iframe noembed noframes plaintext script style textarea title xmp'.split(' '))
const WEB = /^https?:\/\//i
/** What browsers leave out of URLs (WHATWG URL §4.4). */
const OUTER_BLANKS = /^[\0- ]+|[\0- ]+$/g
const INNER_BREAKS = /[\t\n\r]+/g
const PRINTABLE_ASCII = /^[!-~]+$/

/** Any text will do, however broken: what browsers would not take for a link is none. */
export function findLinks(html: string): LinkPlan {
  const { hrefs, pixelAt } = findParts(html)
  return { links: hrefs.flatMap(href => webLink(href) ?? []), pixelAt }
}

/** Undefined where it does not lead to the web, or too far to say. */
export function webLink({ start, end, number, value }: Href): HtmlLink | undefined {
  const target = webTarget(value)
  return target === undefined ? undefined : { start, end, number, target }
}

/**
 * @param onPlain called, in ascending order, with stretches in which any text without `<`, `>`, `&` and
 * quotes may stand in place of what is there, and nothing else would become of the page: what is shown, and
 * quoted values of attributes
 */
export function findParts(html: string, onPlain?: (start: number, end: number) => void): PageParts {
  const hrefs: Href[] = []
  let bodyEnd = -1
  let htmlEnd = -1
  let wholeEnd = 0

  let isRaw = false

  const onTag = ({ name, end, href, isExcluded }: OpenTag) => {
    isRaw = RAW.has(name)
    if (!isRaw) wholeEnd = end
    const isNoted = !isExcluded && hrefs.length < HREFS_MAX
    if (href && isNoted && href.number <= LAST_NUMBER) hrefs.push(href)
  }
  readHtml(html, {
    ...openTags(html, onTag, onPlain),
    onclosetag(start, end) {
      isRaw = false
      const name = html.slice(start, end).toLowerCase()
      if (name === 'body') bodyEnd = html.lastIndexOf('<', start)
      else if (name === 'html') htmlEnd = html.lastIndexOf('<', start)
      const tagEnd = html.indexOf('>', end)
      if (tagEnd >= 0) wholeEnd = tagEnd + 1
    },
    oncomment(_start, end, endLength) {
      // part of an end, with nothing behind it, is none
      if (endLength > 0 && end < html.length) wholeEnd = end + 1
    },
    ontext(start, end) {
      // the rest of a tag that is cut off comes as text from nowhere, or behind its `<`
      if (start < 0 || html[start - 1] === '<') return
      if (!isRaw) wholeEnd = end === html.length && html.endsWith('</') ? end - '</'.length : end
      onPlain?.(start, end)
    },
    ontextentity(_codePoint, end) {
      if (!isRaw) wholeEnd = end
    },
  })
  const pageEnd = bodyEnd >= 0 ? bodyEnd : htmlEnd
  return { hrefs, pixelAt: pageEnd >= 0 ? pageEnd : wholeEnd, hasNoEnd: pageEnd < 0 }
}

/**
 * Where a browser would go, as a header can carry it; undefined where that is not the web, or too long to
 * say.
 */
function webTarget(href: string): string | undefined {
  const text = href.replace(OUTER_BLANKS, '').replace(INNER_BREAKS, '')
  const url = WEB.test(text) ? URL.parse(text) : null
  if (url === null) return undefined
  const target = PRINTABLE_ASCII.test(text) ? text : url.href
  return target.length <= TARGET_LENGTH_MAX ? target : undefined
}
