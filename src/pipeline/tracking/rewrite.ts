/** Replaces the links of HTML and inserts the pixel, and changes nothing else. */
import { escapeHtml } from '../../resources/templates/escape-html.ts'
import type { LinkPlan } from './find-links.ts'

interface Rewriting {
  /** Returns the URL that replaces the link; undefined keeps it. For `number` see `HtmlLink`. */
  linkUrl: ((target: string, number: number | null) => string | undefined) | null
  /** Null inserts no pixel. */
  pixelUrl: string | null
}

/** @param plan is the plan of the same HTML */
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

/** The pixel is invisible even where images are not shown. */
function pixel(url: string): string {
  return `<img src="${escapeHtml(url)}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`
}
