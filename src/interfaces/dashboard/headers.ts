/** What the dashboard's own page may do, and what a message that it shows may not. */

/**
 * Scripts, styles and requests of this origin alone, and nothing written into the page. Frames are for
 * messages, which forms put there; pictures may be written out, as small charts and the preview of an
 * attachment are.
 */
export const PAGE_HEADERS = {
  'cache-control': 'no-cache',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
} as const

/**
 * For what strangers wrote: no scripts, no forms, no links that lead anywhere, and nothing loaded.
 * @param withPictures pictures may be fetched, by which a sender learns that the message is looked at
 */
export function previewHeaders(withPictures: boolean) {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': [
      'sandbox',
      "default-src 'none'",
      "style-src 'unsafe-inline'",
      `img-src data:${withPictures ? ' https: http:' : ''}`,
      'font-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex, nofollow, noarchive',
  } as const
}
