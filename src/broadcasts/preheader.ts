/** The preview text: what an inbox shows beside the subject, put where it is read first and seen by nobody. Pure. */
import { Parser } from 'htmlparser2'
import { escapeHtml } from '../templates/escape-html.ts'
import { parseText, writeText } from '../templates/parse.ts'

const HIDDEN =
  'display:none;max-height:0;max-width:0;overflow:hidden;mso-hide:all;font-size:1px;line-height:1px;opacity:0'
/** Keeps inboxes from going on with what the message begins with: it is as wide as what they show. */
const FILLER = '&#847;&zwnj;&nbsp;'.repeat(60)

/** At the beginning of the body. Placeholders of the preview text stay what they are, the rest of it is text. */
export function withPreheader(html: string, previewText: string): string {
  const at = bodyStart(html)
  const preheader = `<div style="${HIDDEN}">${asHtml(previewText)}${FILLER}</div>`
  return html.slice(0, at) + preheader + html.slice(at)
}

/** After the body tag that browsers see; where there is none, after what must come before all else. */
function bodyStart(html: string): number {
  let at = 0
  let isFound = false
  const upToHere = () => {
    if (!isFound) at = parser.endIndex + 1
  }
  const parser = new Parser({
    onprocessinginstruction: upToHere,
    onopentag(name) {
      if (name === 'html' || name === 'body') upToHere()
      if (name === 'body') isFound = true
    },
    onclosetag(name, isImplied) {
      if (name === 'head' && !isImplied) upToHere()
    },
  })
  parser.end(html)
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
