/** Finds the positions of links and of the tracking pixel in HTML, without serializing it again. */

import { type Href, type OpenTag, openTags, readHtml } from '../../protocols/mime/html/read-html.ts'
import { LINK_NUMBER_MAX } from './link-numbers.ts'

export interface PageParts {
  /** Links that may be tracked. */
  hrefs: Href[]
  /**
   * Position of the pixel: before the last `</body>`, else the last `</html>`, else after complete content.
   */
  pixelAt: number
  /** Whether the page has neither `</body>` nor `</html>`. */
  hasNoEnd: boolean
}

/** A link with an `http` or `https` URL. */
export interface HtmlLink extends Pick<Href, 'start' | 'end'> {
  /** Index in the page or its template; null for a link that comes from a recipient's value. */
  number: number | null
  /** An `http` or `https` URL in printable ASCII. */
  target: string
}

export interface LinkPlan extends Pick<PageParts, 'pixelAt'> {
  links: HtmlLink[]
}

/**
 * Length of a URL in octets. A longer one is not tracked, because the signed URL would exceed the limit of
 * some proxies.
 */
export const TARGET_LENGTH_MAX = 2_048
/** Further links are not tracked. */
const HREFS_MAX = 2_000
/** Elements whose content ends only at their own closing tag. */
const RAW = new Set('iframe noembed noframes plaintext script style textarea title xmp'.split(' '))
const WEB = /^https?:\/\//i
/** Characters that browsers remove from URLs (WHATWG URL §4.4). */
const OUTER_BLANKS = /^[\0- ]+|[\0- ]+$/g
const INNER_BREAKS = /[\t\n\r]+/g
const PRINTABLE_ASCII = /^[!-~]+$/

/** Accepts any text, however broken, and finds what browsers would treat as a link. */
export function findLinks(html: string): LinkPlan {
  const { hrefs, pixelAt } = findParts(html)
  return { links: hrefs.flatMap(href => webLink(href) ?? []), pixelAt }
}

/** Undefined when the link is not a web URL, or is too long. */
export function webLink({ start, end, number, value }: Href): HtmlLink | undefined {
  const target = webTarget(value)
  return target === undefined ? undefined : { start, end, number, target }
}

/**
 * @param onPlain is called in ascending order with ranges of text and quoted attribute values. Text without
 * `<`, `>`, `&` and quotes can replace the content of such a range without changing the structure of the
 * page.
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
    if (href && isNoted && href.number <= LINK_NUMBER_MAX) hrefs.push(href)
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
      // a comment whose end is incomplete is still open
      if (endLength > 0 && end < html.length) wholeEnd = end + 1
    },
    ontext(start, end) {
      // the tokenizer reports a truncated tag as text with a negative start, or directly after its `<`
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
 * Returns the URL that a browser would open, in printable ASCII; undefined when it is not a web URL or too
 * long.
 */
function webTarget(href: string): string | undefined {
  const text = href.replace(OUTER_BLANKS, '').replace(INNER_BREAKS, '')
  const url = WEB.test(text) ? URL.parse(text) : null
  if (url === null) return undefined
  const target = PRINTABLE_ASCII.test(text) ? text : url.href
  return target.length <= TARGET_LENGTH_MAX ? target : undefined
}
