/** Frame of the pages that recipients see: HTML without scripts, readable on a phone and in the dark. */
import { hash } from 'node:crypto'
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

const HEADERS = {
  ...PRIVATE_HEADERS,
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
} as const

export interface RecipientPage {
  /** Heading, as HTML. */
  title: string
  /** HTML below the heading. */
  content: string
}

export function recipientReply(
  status: number,
  { code }: PageLanguage,
  { title, content }: RecipientPage,
): RawHttpReply {
  const html =
    `<!doctype html>\n<html lang="${code}"><head><meta charset="utf-8">` +
    `<title>${title}</title><meta name="viewport" content="width=device-width, initial-scale=1">` +
    `<meta name="robots" content="noindex, nofollow"><style>${STYLE}</style></head>` +
    `<body><main><h1>${title}</h1>${content}</main></body></html>\n`
  return { status, headers: { ...HEADERS, 'content-language': code }, content: Buffer.from(html) }
}
