/**
 * The preview text: what an inbox shows beside the subject, put where it is read first and seen by nobody.
 * Pure.
 */
import { escapeHtml } from '../../resources/templates/escape-html.ts'
import { parseText, writeText } from '../../resources/templates/parse.ts'
import { openTags, readHtml } from '../tracking/read-html.ts'

const HIDDEN =
  'display:none;max-height:0;max-width:0;overflow:hidden;mso-hide:all;font-size:1px;line-height:1px;opacity:0'
/** Keeps inboxes from going on with what the message begins with: it is as wide as what they show. */
const FILLER = '&#847;&zwnj;&nbsp;'.repeat(60)

/**
 * At the beginning of the body. Placeholders of the preview text stay what they are, the rest of it is text.
 */
export function withPreheader(html: string, previewText: string): string {
  const at = bodyStart(html)
  const preheader = `<div style="${HIDDEN}">${asHtml(previewText)}${FILLER}</div>`
  return html.slice(0, at) + preheader + html.slice(at)
}

/** After the body tag that browsers see; where there is none, after what must come before all else. */
function bodyStart(html: string): number {
  let at = 0
  let isFound = false
  let isInHead = false
  const upTo = (end: number) => {
    if (!isFound) at = end
  }
  readHtml(html, {
    ...openTags(html, ({ name, end }) => {
      if (name === 'head') isInHead = true
      if (name === 'html' || name === 'body') upTo(end)
      if (name === 'body') isFound = true
    }),
    onclosetag(start, end) {
      if (!isInHead || html.slice(start, end).toLowerCase() !== 'head') return
      isInHead = false
      const tagEnd = html.indexOf('>', end)
      if (tagEnd >= 0) upTo(tagEnd + 1)
    },
    ondeclaration: (_start, end) => upTo(end + 1),
  })
  return at
}

function asHtml(text: string): string {
  const { literals, placeholders } = parseText(text)
  return writeText({
    literals: literals.map(literal => escapeHtml(literal)),
    placeholders: placeholders.map(({ fallback, ...place }) => ({
      ...{ ...place, raw: false },
      fallback: fallback === null ? null : escapeHtml(fallback),
    })),
  })
}
