/** Frame of the pages that recipients see: HTML without scripts, readable on a phone and in the dark. */
import { hash } from 'node:crypto'
import type { PageSender } from '../../../pipeline/tracking/preferences.ts'
import { escapeHtml } from '../../../resources/templates/escape-html.ts'
import type { RawHttpReply } from '../route/route.ts'
import type { PageLanguage } from './languages.ts'

/** Colours and sizes are those of the dashboard (`dashboard/web/styles/tokens.css`). */
const STYLE = `
:root { --paper: #faf8f3; --surface: #fffefb; --line: #e5dfd1; --ink: #1d1a14; --ink-2: #575142; --brass: #f2b90c; --on-brass: #1d1a14; --good: #1c7047; --good-soft: #e2f1e7; color-scheme: light; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15130e; --surface: #1d1a14; --line: #322d22; --ink: #f3eee1; --ink-2: #c2b9a4; --good: #6fce9b; --good-soft: #14301f; color-scheme: dark; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 Geist, system-ui, sans-serif; color: var(--ink); background: var(--paper); }
main { max-width: 34em; margin: 8vh auto; padding: 24px 32px; background: var(--surface); border: 1px solid var(--line); border-radius: 8px; }
@media (max-width: 36em) { main { margin: 0; padding: 24px 16px; border-width: 0 0 1px; border-radius: 0; } }
img { display: block; max-width: 100%; max-height: 64px; margin: 0 0 16px; padding: 4px; background: white; border-radius: 5px; }
h1 { margin: 0 0 12px; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 32px 0 8px; font-size: 1.25rem; }
p, label { overflow-wrap: anywhere; }
.done { padding: 12px 16px; color: var(--good); background: var(--good-soft); border-radius: 5px; }
fieldset { margin: 0 0 16px; padding: 0; border: 0; min-width: 0; }
label { display: block; padding: 12px 0; }
small { display: block; margin-left: 32px; color: var(--ink-2); }
button { max-width: 100%; min-height: 44px; margin: 4px 8px 4px 0; padding: 8px 16px; font: inherit; overflow-wrap: anywhere; color: var(--on-brass); background: var(--brass); border: 1px solid var(--on-brass); border-radius: 5px; cursor: pointer; }
button.other { color: var(--ink); background: none; border-color: var(--ink-2); }
:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px; }
`

/** Headers that prevent caching, indexing and a Referer header. */
export const PRIVATE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  vary: 'Accept, Accept-Language',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow, noarchive',
  'x-content-type-options': 'nosniff',
} as const

/** The page loads nothing but the logo, from its own host. */
function policyFor(styles: readonly string[]): string {
  return [
    "default-src 'none'",
    `style-src ${styles.map(style => `'sha256-${hash('sha256', style, 'base64')}'`).join(' ')}`,
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

export interface RecipientPage {
  /** Absent on pages that belong to no sender. */
  sender?: PageSender
  /** Heading, as HTML. */
  title: string
  /** HTML below the heading. */
  content: string
}

export function recipientReply(
  status: number,
  { code }: PageLanguage,
  { sender, title, content }: RecipientPage,
): RawHttpReply {
  const styles = [STYLE, ...(sender?.color ? [styleOf(sender.color)] : [])]
  const logo = sender?.logoPath ? `<img src="${sender.logoPath}" alt="${escapeHtml(sender.name ?? '')}">` : ''
  const html =
    `<!doctype html>\n<html lang="${code}"><head><meta charset="utf-8">` +
    `<title>${title}</title><meta name="viewport" content="width=device-width, initial-scale=1">` +
    `<meta name="robots" content="noindex, nofollow">${styles.map(style => `<style>${style}</style>`).join('')}</head>` +
    `<body><main>${logo}<h1>${title}</h1>${content}</main></body></html>\n`
  const headers = {
    ...PRIVATE_HEADERS,
    'content-language': code,
    'content-security-policy': policyFor(styles),
    'cross-origin-opener-policy': 'same-origin',
  }
  return { status, headers, content: Buffer.from(html) }
}

/** @param color `#rrggbb` */
function styleOf(color: string): string {
  return `:root { --brass: ${color}; --on-brass: ${isLight(color) ? 'black' : 'white'}; }`
}

/** Tells whether black text has more contrast on the colour than white text (WCAG 2.2, contrast ratio). */
export function isLight(color: string): boolean {
  const linear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  const [red, green, blue] = [1, 3, 5].map(at => linear(Number.parseInt(color.slice(at, at + 2), 16) / 255))
  const luminance = 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
  return (luminance + 0.05) ** 2 > 1.05 * 0.05
}
