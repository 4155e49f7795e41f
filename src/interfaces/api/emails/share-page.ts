/**
 * Page of an email for somebody without a session: by a share link, or for its recipient. The html of the
 * email is shown in a sandboxed frame. The page itself contains only the header fields, and every text is
 * escaped.
 */
import { hash } from 'node:crypto'
import { escapeHtml } from '../../../resources/templates/escape-html.ts'
import type { PageLanguage } from '../recipients/languages.ts'
import { PRIVATE_HEADERS } from '../recipients/shell.ts'
import type { RawHttpReply } from '../route/route.ts'

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

const PAGE_HEADERS = {
  ...PRIVATE_HEADERS,
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

/** What the html of an email may do. */
interface FrameRights {
  /** Tokens of the sandbox. */
  sandbox: string
  images: string
}

/** For the mail of strangers: no links that leave the frame and no external resources. */
export const VISITOR: FrameRights = { sandbox: '', images: 'data:' }
/** For the recipient of the email: links open, and pictures are loaded, as in a mail program. */
export const READER: FrameRights = {
  sandbox: ' allow-popups allow-popups-to-escape-sandbox',
  images: 'https: data:',
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

interface PageOptions {
  /** Path of the html, which is shown if the email has one; otherwise the text is shown. */
  framePath: string
  language: PageLanguage
  rights: FrameRights
}

export function sharePageReply(
  email: SharedEmail,
  { framePath, language: { code, texts }, rights: { sandbox } }: PageOptions,
): RawHttpReply {
  const rows = [
    [texts.from, email.from],
    [texts.to, email.to.join(', ')],
    [texts.cc, email.cc.join(', ')],
  ].filter(([, text]) => text !== '')
  const head = [...rows, [texts.date, dateIn(code, email.time)]]
    .map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value!)}</dd>`)
    .join('')
  const subject = escapeHtml(email.subject)
  const content = email.hasHtml
    ? `<iframe sandbox${sandbox && `="${sandbox.trim()}"`} referrerpolicy="no-referrer" title="${texts.email}" src="${escapeHtml(framePath)}"></iframe>`
    : `<pre>${escapeHtml(email.text ?? '')}</pre>`
  const html =
    `<!doctype html>\n<html lang="${code}"><head><meta charset="utf-8"><title>${subject}</title>` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<meta name="robots" content="noindex, nofollow"><style>${STYLE}</style></head>` +
    `<body><header><h1>${subject}</h1><dl>${head}</dl></header><main>${content}</main></body></html>\n`
  return { status: 200, headers: { ...PAGE_HEADERS, 'content-language': code }, content: Buffer.from(html) }
}

function dateIn(code: string, time: number): string {
  return new Intl.DateTimeFormat(code, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' }).format(time)
}

/** Returns the html of the frame: without scripts, forms and anything that `rights` do not allow. */
export function sharedHtmlReply(html: string, { sandbox, images }: FrameRights): RawHttpReply {
  const policy = [
    `sandbox${sandbox}`,
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src ${images}`,
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ')
  const content = sandbox === '' ? html : withLinksOutside(html)
  return {
    status: 200,
    headers: { ...PRIVATE_HEADERS, 'content-security-policy': policy },
    content: Buffer.from(content),
  }
}

/** Tags behind which `<base>` may stand. Their length is limited, so that a search takes linear time. */
const HEADS = [/<head(?:\s[^>]{0,500})?>/i, /<html(?:\s[^>]{0,500})?>/i, /^\s*<!doctype[^>]{0,500}>/i]

/** Lets links without a target open outside the frame. */
function withLinksOutside(html: string): string {
  const base = '<base target="_blank">'
  const head = HEADS.map(tag => tag.exec(html)).find(match => match !== null)
  const at = head ? head.index + head[0].length : 0
  return html.slice(0, at) + base + html.slice(at)
}
