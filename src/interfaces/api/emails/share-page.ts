/**
 * Page of a shared email. The html of the email is shown in a sandboxed frame. The page itself contains only
 * the header fields, and every text is escaped.
 */
import { hash } from 'node:crypto'
import { mailboxText } from '../../../protocols/smtp/address.ts'
import { parseStoredMailboxes } from '../../../resources/emails/email-rows.ts'
import { escapeHtml } from '../../../resources/templates/escape-html.ts'
import type { EmailRow } from '../../../store/schema.ts'

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

export type SharedEmail = Pick<
  EmailRow,
  'sender' | 'toList' | 'ccList' | 'subject' | 'createdAt' | 'scheduledAt'
>

/** @param framePath path of the html, or null for an email without html, whose text is shown */
export function sharePage(email: SharedEmail, text: string | null, framePath: string | null): string {
  const rows = [
    ['From', email.sender],
    ['To', email.toList],
    ['Cc', email.ccList],
  ].flatMap(([name, list]) => {
    const mailboxes = parseStoredMailboxes(list ?? null).map(mailboxText)
    return mailboxes.length > 0 ? [[name!, mailboxes.join(', ')]] : []
  })
  const date = new Date(email.scheduledAt ?? email.createdAt).toUTCString()
  const head = [...rows, ['Date', date]]
    .map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value!)}</dd>`)
    .join('')
  const subject = escapeHtml(email.subject)
  const content =
    framePath === null
      ? `<pre>${escapeHtml(text ?? '')}</pre>`
      : `<iframe sandbox referrerpolicy="no-referrer" title="The email" src="${escapeHtml(framePath)}"></iframe>`
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${subject}</title>` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<meta name="robots" content="noindex, nofollow"><style>${STYLE}</style></head>` +
    `<body><header><h1>${subject}</h1><dl>${head}</dl></header>${content}</body></html>\n`
  )
}
