/** What of emails is in memory that is worth moving to another thread instead of being copied. */
import { inOwnMemory } from '../../lib/own-memory.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'
import type { PreparedRequest } from './prepared.ts'
import type { NewEmail } from './store-emails.ts'

/** Each once. All of it belongs to the emails alone: whoever made it has put it into memory of its own. */
export function transferablesOf(
  contents: readonly NewEmail['content'][],
  blobs: readonly StagedBlob[],
): ArrayBuffer[] {
  const memory = new Set<ArrayBuffer>()
  for (const content of contents) if ('encoding' in content) memory.add(content.body.buffer as ArrayBuffer)
  for (const { body } of blobs) if (body) memory.add(body.buffer as ArrayBuffer)
  return [...memory]
}

/**
 * Gives each byte array of a request that came from another process memory of its own: as they arrive, all
 * are views of the one buffer that held the whole message, which could only be moved on together.
 */
export function withOwnMemory({ emails, blobs }: PreparedRequest): void {
  const contents = new Set(emails.map(({ email }) => email.content))
  for (const content of contents) if ('encoding' in content) content.body = inOwnMemory(content.body)
  const staged = new Set(blobs)
  for (const { email } of emails) {
    for (const file of email.attachments) if ('blob' in file) staged.add(file.blob)
    if (email.raw) staged.add(email.raw.message)
  }
  for (const blob of staged) if (blob.body) blob.body = inOwnMemory(blob.body)
}

/**
 * Processes that hand over what they have read put contents of so many characters into the form in which they
 * are stored: beyond what the writer keeps at hand for the delivery.
 */
export const STORED_FROM_CHARACTERS = 64 * 1024 + 1
