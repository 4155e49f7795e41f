/**
 * What a submitted message says, for those who look at it in the dashboard or over the API: its texts and
 * files.
 */
import type { SubmittedAttachment } from '../../pipeline/accept/submission.ts'
import { readMail } from '../../pipeline/inbound/parts/read-mail.ts'
import { decodeBytes } from '../../pipeline/inbound/parts/transfer.ts'
import type { Content } from '../../resources/emails/content.ts'

export interface MessageParts {
  content: Content
  attachments: SubmittedAttachment[]
  /** Nothing was cut or left out: messages that say something else have other parts. */
  isWhole: boolean
}

/** More are still sent, and not shown. */
const SHOWN_MAX = 100

/** A message that cannot be taken apart is sent all the same, and shown without its texts. */
export async function partsOf(message: Buffer): Promise<MessageParts> {
  const { html, text, parts, faults } = readMail(message)
  const attachments: SubmittedAttachment[] = []
  // Hardly any file is longer than its encoding. One that is was made to fill the memory of who decodes it.
  let room = message.length
  for (const { filename, contentType, contentId, sizeBytes, start, end, encoding } of parts) {
    if (attachments.length === SHOWN_MAX || sizeBytes > room) continue
    room -= sizeBytes
    const content = decodeBytes(message.subarray(start, end), encoding, sizeBytes)
    attachments.push({ filename, contentType, contentId, content })
  }
  return {
    content: { html, text: text || null },
    attachments,
    isWhole: faults.length === 0 && attachments.length === parts.length,
  }
}
