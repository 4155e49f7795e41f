/**
 * Shows a message in a frame of the dashboard. The page sends what it is to show in a form, and gets it back
 * as a document with rules of its own: a frame that is filled from within the page would be under the page's
 * rules, which let no message keep its looks
 * ([why](../../docs/decisions/0055-dashboard-stack-and-message-previews.md)).
 */
import { previewHeaders } from './headers.ts'
import type { DashboardPage } from './pages.ts'

const FIELD = 'html='

/**
 * @param body of a form whose only field is `html`, as `text/plain` (HTML §4.10.22.8); undefined for anything
 * else
 */
export function previewOf(body: Uint8Array, withPictures: boolean): DashboardPage | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (bytes.toString('latin1', 0, FIELD.length) !== FIELD) return undefined
  const end = bytes.toString('latin1', bytes.length - 2) === '\r\n' ? bytes.length - 2 : bytes.length
  return { status: 200, headers: previewHeaders(withPictures), content: bytes.subarray(FIELD.length, end) }
}
