/** What of emails is in memory that is worth moving to another thread instead of being copied. */
import type { StagedBlob } from '../store/blobs/staged.ts'
import type { NewEmail } from './store-emails.ts'

/** Each once. All of it belongs to the emails alone: whoever made it has put it into memory of its own. */
export function travellingMemory(
  contents: readonly NewEmail['content'][],
  blobs: readonly StagedBlob[],
): ArrayBuffer[] {
  const memory = new Set<ArrayBuffer>()
  for (const content of contents) if ('encoding' in content) memory.add(content.body.buffer as ArrayBuffer)
  for (const { body } of blobs) if (body) memory.add(body.buffer as ArrayBuffer)
  return [...memory]
}

/**
 * On threads that hand over what they have read, contents of so many characters are put into the form in which they are stored:
 * beyond what the writer keeps at hand for the delivery.
 */
export const STORED_FROM_CHARACTERS = 64 * 1024 + 1
