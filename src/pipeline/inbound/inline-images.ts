/** Embeds images that the HTML of a message references by `cid:` URLs (RFC 2392) as `data:` URLs. */
import type { StoredPart } from './stored-content.ts'

/** The URL ends at a quote, a blank or a bracket. */
const CID_URL = /\bcid:([^\s"'<>()]+)/gi
/** Limit of all embedded images of a reply; further images are not embedded. */
const IMAGE_BYTES_MAX = 5 * 1024 * 1024

export async function withInlineImages(
  html: string,
  parts: readonly StoredPart[],
  read: (part: StoredPart) => Promise<AsyncIterable<Uint8Array>>,
): Promise<string> {
  const named = new Set([...html.matchAll(CID_URL)].map(([, url]) => contentIdIn(url!)))
  const images = new Map<string, string>()
  let room = IMAGE_BYTES_MAX
  for (const part of parts) {
    const { contentId, contentType, sizeBytes } = part
    if (contentId === null || !named.has(contentId) || images.has(contentId)) continue
    if (!contentType.startsWith('image/') || sizeBytes > room) continue
    room -= sizeBytes
    const bytes = Buffer.concat(await Array.fromAsync(await read(part)))
    images.set(contentId, `data:${contentType};base64,${bytes.toString('base64')}`)
  }
  return html.replace(CID_URL, (whole, url: string) => images.get(contentIdIn(url)) ?? whole)
}

function contentIdIn(url: string): string {
  const text = url.replaceAll('&amp;', '&')
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    return text
  }
}
