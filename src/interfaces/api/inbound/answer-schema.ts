/** What is asked for when a received message is passed on or answered. */
import * as z from 'zod'
import { refuseTooMany } from '../../../pipeline/accept/recipients.ts'
import type { ReplyTexts } from '../../../pipeline/inbound/reply-forward.ts'
import type { Mailbox } from '../../../protocols/smtp/address.ts'
import { apiErrorOf, invalidField } from '../api-error.ts'
import { readFrom, readMailboxes } from '../emails/send-schema.ts'
import { bodyReader, oneOrMany } from '../schema/read.ts'

export const forwardSchema = z.object({ from: z.string(), to: oneOrMany() })
export const replySchema = z.object({
  from: z.string(),
  html: z.string().optional(),
  text: z.string().optional(),
})
const readForwardBody = bodyReader(forwardSchema, { emptyMeansAbsent: ['from'] })
const readReplyBody = bodyReader(replySchema, { emptyMeansAbsent: ['from'] })

/** @throws ApiError */
export function readForward(body: unknown): { from: Mailbox; to: Mailbox[] } {
  const { from, to } = readForwardBody(body)
  const tooMany = refuseTooMany({ to, cc: [], bcc: [] })
  if (tooMany) throw apiErrorOf(tooMany)
  return { from: readFrom(from), to: readMailboxes('to', to) }
}

/** @throws ApiError */
export function readReply(body: unknown): { from: Mailbox; words: ReplyTexts } {
  const { from, html = null, text = null } = readReplyBody(body)
  if (html === null && text === null)
    throw invalidField('html', 'Missing `html` or `text` field.', 'missing_required_field')
  return { from: readFrom(from), words: { html, text } }
}
