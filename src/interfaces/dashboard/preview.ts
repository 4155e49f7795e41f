/**
 * Serves a message as a separate document for a preview frame. The page sends the content in a form and gets
 * it back with its own security headers. A frame that is filled by script would inherit the policy of the
 * page, which blocks the styles of messages ([decision
 * 0055](../../docs/decisions/0055-dashboard-stack-and-message-previews.md)).
 */
import { previewHeaders } from './headers.ts'
import type { DashboardPage } from './pages.ts'

const FIELD = 'html='

/**
 * @param body form with the only field `html`, as `text/plain` (HTML §4.10.22.8); the result is undefined for
 * any other body
 */
export function previewOf(body: Uint8Array, withPictures: boolean): DashboardPage | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (bytes.toString('latin1', 0, FIELD.length) !== FIELD) return undefined
  const end = bytes.toString('latin1', bytes.length - 2) === '\r\n' ? bytes.length - 2 : bytes.length
  return { status: 200, headers: previewHeaders(withPictures), content: bytes.subarray(FIELD.length, end) }
}
