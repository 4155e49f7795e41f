/** Contents of files for requests of the API. */

/** Number of bytes that are converted at a time: a call takes a limited number of arguments. */
const PIECE_BYTES = 0x8000

/** Encodes the content as base64. @throws DOMException if a file was moved or changed since it was chosen */
export async function base64Of(content: Blob | Response): Promise<string> {
  const bytes = new Uint8Array(await content.arrayBuffer())
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES))
  return btoa(text)
}

/** Returns an id that nobody else has made, also on a page without https, where `randomUUID` is absent. */
export function randomId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}
