/** URLs of links, as a text shows them. Called by `html-to-text.ts`. */

const SCHEME_NOT_SHOWN = /^(?:javascript|vbscript|data|cid|about|file):/i
const URL_PREFIX = /^(?:https?:\/\/|mailto:|tel:|sms:)/i

/** The URL as readers are shown it; empty if there is none or it leads nowhere in a text. */
export function urlOf(href = ''): string {
  const url = href
    .replace(/[\t\n\r]+/g, '')
    .trim()
    .replaceAll(' ', '%20')
  if (url.startsWith('#') || SCHEME_NOT_SHOWN.test(url)) return ''
  return /^mailto:[^?]+$/i.test(url) || /^tel:/i.test(url) ? url.replace(URL_PREFIX, '') : url
}

const PHONE_NUMBER = /^[+\d\s().-]+$/

/**
 * Whether the words of a link are its URL: apart from the scheme, the case of the host and a slash at the
 * end, and for a phone number apart from blanks, dots, hyphens and parentheses.
 */
export function isSameUrl(words: string, url: string): boolean {
  const joints = PHONE_NUMBER.test(url) ? /[\s().-]+/g : /\s+/g
  const bare = (text: string) =>
    text
      .trim()
      .replace(URL_PREFIX, '')
      .replace(/^[^/?#]*/, host => host.toLowerCase())
      .replace(joints, '')
      .replace(/\/$/, '')
  return bare(words) === bare(url)
}
