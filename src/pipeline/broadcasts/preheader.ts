/** Inserts the preview text, which inboxes show beside the subject, as a hidden element of the body. Pure. */

import { openTags, readHtml } from '../../protocols/mime/html/read-html.ts'
import { escapeHtml } from '../../resources/templates/escape-html.ts'
import { parseText, writeText } from '../../resources/templates/parse.ts'

const HIDDEN =
  'display:none;max-height:0;max-width:0;overflow:hidden;mso-hide:all;font-size:1px;line-height:1px;opacity:0'
/**
 * Invisible characters that fill the preview, so that inboxes do not show the start of the message behind it.
 */
const FILLER = '&#847;&zwnj;&nbsp;'.repeat(60)

/** Inserts the preview text at the start of the body. Placeholders are kept; all else is escaped as text. */
export function withPreheader(html: string, previewText: string): string {
  const at = bodyStart(html)
  const preheader = `<div style="${HIDDEN}">${asHtml(previewText)}${FILLER}</div>`
  return html.slice(0, at) + preheader + html.slice(at)
}

/**
 * Returns the position after the body tag that browsers use; without one, after the head, `<html>` or the
 * declaration.
 */
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
    placeholders: placeholders.map(({ fallback, ...placeholder }) => ({
      ...placeholder,
      raw: false,
      fallback: fallback === null ? null : escapeHtml(fallback),
    })),
  })
}
