/** Tracked HTML: the same text with its links replaced and the pixel put in, and nothing else changed. */
import { escapeHtml } from '../../resources/templates/escape-html.ts'
import type { LinkPlan } from './find-links.ts'

interface Rewriting {
  /** Where a link is to lead instead; undefined leaves it. @param number of the link, see `HtmlLink` */
  linkUrl: ((target: string, number: number | null) => string | undefined) | null
  /** Null for no pixel. */
  pixelUrl: string | null
}

/** @param plan of the same text */
export function rewriteHtml(html: string, plan: LinkPlan, { linkUrl, pixelUrl }: Rewriting): string {
  let text = ''
  let at = 0
  let isPixelDue = pixelUrl !== null
  const upTo = (position: number) => {
    text += html.slice(at, position)
    at = position
  }
  const pixelBefore = (position: number) => {
    if (!isPixelDue || plan.pixelAt > position) return
    upTo(plan.pixelAt)
    text += pixel(pixelUrl!)
    isPixelDue = false
  }
  if (linkUrl)
    for (const { start, end, number, target } of plan.links) {
      const url = linkUrl(target, number)
      if (url === undefined) continue
      pixelBefore(start)
      upTo(start)
      text += escapeHtml(url)
      at = end
    }
  pixelBefore(html.length)
  upTo(html.length)
  return text
}

/** Seen by nobody, also where pictures are not shown. */
function pixel(url: string): string {
  return `<img src="${escapeHtml(url)}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`
}
