/** Buffers of emails that are transferred to another thread instead of being copied. */
import { inOwnMemory } from '../../lib/bytes.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'
import type { PreparedRequest } from './prepared.ts'
import type { NewEmail } from './store-emails.ts'

/**
 * Lists each buffer once. Each buffer holds data of these emails only, since its maker allocated it for them.
 */
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
 * Copies each byte array of a request that came from another process into its own buffer. Deserialized arrays
 * are views of one buffer with the whole message, which could be transferred only together.
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
 * The parse worker encodes contents with at least this number of characters to their stored form. The writer
 * does not keep such contents in memory for the delivery.
 */
export const STORED_FROM_CHARACTERS = 64 * 1024 + 1
