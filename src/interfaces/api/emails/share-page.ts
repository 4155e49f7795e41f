/**
 * Page of a shared email. The html of the email is shown in a sandboxed frame. The page itself contains only
 * the header fields, and every text is escaped.
 */
import { hash } from 'node:crypto'
import { escapeHtml } from '../../../resources/templates/escape-html.ts'

/** Headers that prevent caching, indexing and a Referer header. */
const PRIVATE = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow, noarchive',
  'x-content-type-options': 'nosniff',
} as const

const STYLE = `
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #f4f4f2; }
header { padding: 16px 24px; background: #fff; border-bottom: 1px solid #ddd; }
h1 { margin: 0 0 8px; font-size: 19px; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 12px; margin: 0; }
dt { color: #666; }
dd { margin: 0; overflow-wrap: anywhere; }
iframe { display: block; box-sizing: border-box; width: 100%; height: calc(100vh - 150px); border: 0; background: #fff; }
pre { margin: 0; padding: 24px; white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; }
`

export const SHARE_PAGE_HEADERS = {
  ...PRIVATE,
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
}

/**
 * Content security policy for the mail of strangers: it allows no scripts, no forms, no links that leave the
 * frame and no external resources.
 */
export const SHARED_HTML_HEADERS = {
  ...PRIVATE,
  'content-security-policy': [
    'sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; '),
}

export interface SharedEmail {
  from: string
  to: readonly string[]
  cc: readonly string[]
  subject: string
  /** Epoch ms. */
  time: number
  text: string | null
  hasHtml: boolean
  /** Reads the HTML with its inline images; null if there is none. */
  html(): Promise<string | null>
}

/** @param framePath path of the html, which is shown if the email has one; otherwise the text is shown */
export function sharePage(email: SharedEmail, framePath: string): string {
  const rows = [
    ['From', email.from],
    ['To', email.to.join(', ')],
    ['Cc', email.cc.join(', ')],
  ].filter(([, text]) => text !== '')
  const date = new Date(email.time).toUTCString()
  const head = [...rows, ['Date', date]]
    .map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value!)}</dd>`)
    .join('')
  const subject = escapeHtml(email.subject)
  const content = email.hasHtml
    ? `<iframe sandbox referrerpolicy="no-referrer" title="The email" src="${escapeHtml(framePath)}"></iframe>`
    : `<pre>${escapeHtml(email.text ?? '')}</pre>`
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${subject}</title>` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<meta name="robots" content="noindex, nofollow"><style>${STYLE}</style></head>` +
    `<body><header><h1>${subject}</h1><dl>${head}</dl></header>${content}</body></html>\n`
  )
}
