/**
 * Messages that were put together by their sender: kept and sent as they are, shown by what could be read in
 * them.
 */

import type { Mailbox } from '../../protocols/smtp/address.ts'
import type { Content } from '../../resources/emails/content.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import { createStage, refuseTooLarge, storedForms } from './prepare.ts'
import type { PreparedEmail, PreparedRequest } from './prepared.ts'
import type { SubmittedAttachment } from './submission.ts'

export interface SubmittedMessage
  extends Omit<
    PreparedEmail,
    'templateId' | 'topicId' | 'content' | 'attachments' | 'whole' | 'encodedOctets'
  > {
  content: Content
  attachments: SubmittedAttachment[]
  /** As it is to leave, but for what each delivery adds. */
  raw: Uint8Array
  /** Of the envelope. */
  recipients: Mailbox[]
}

interface WholeOptions {
  blobs: BlobFiles
  /** Longer texts get the form in which they are stored. */
  storedFromCharacters: number
}

/** @throws StorageUnavailable */
export async function prepareRawMessage(
  { blobs: files, storedFromCharacters }: WholeOptions,
  { raw, recipients, attachments, ...rest }: SubmittedMessage,
): Promise<PreparedRequest> {
  const common = { senders: [{ index: 0, domain: rest.from.domain }], leftOut: [], mode: null }
  const tooLarge = refuseTooLarge(raw.length, false)
  if (tooLarge) return { ...common, emails: [], refusal: tooLarge, blobs: [] }
  const stage = createStage(files)
  try {
    const whole = { raw: await stage.put(raw), recipients }
    const staged: PreparedEmail['attachments'] = []
    for (const { content, ...facts } of attachments) staged.push({ ...facts, blob: await stage.put(content) })
    const email = {
      ...rest,
      templateId: null,
      topicId: null,
      attachments: staged,
      whole,
      encodedOctets: raw.length,
    }
    const emails = storedForms([{ index: 0, email }], storedFromCharacters)
    return { ...common, emails, refusal: null, blobs: stage.all() }
  } catch (error) {
    await stage.discard()
    throw error
  }
}
