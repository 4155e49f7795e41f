/** Forwards received messages and replies to them. The results are ordinary emails. */
import * as z from 'zod'
import { canonicalHash } from '../../../lib/canonical-json.ts'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import { idKey, wireId } from '../../../lib/ids.ts'
import type { Accept } from '../../../pipeline/accept/accept.ts'
import { MESSAGE_BYTES_MAX } from '../../../pipeline/accept/message-limits.ts'
import type { Preparation } from '../../../pipeline/accept/prepare.ts'
import { refuseTooMany } from '../../../pipeline/accept/recipients.ts'
import { isRefusal } from '../../../pipeline/accept/refusal.ts'
import type { Submission, SubmittedAttachment } from '../../../pipeline/accept/submission.ts'
import { contentOf, type ShownInbound } from '../../../pipeline/inbound/find-inbound.ts'
import { openPart } from '../../../pipeline/inbound/part-bytes.ts'
import {
  answerFault,
  forward,
  type ReplyTexts,
  replyReferences,
  replyTo,
  roundsFault,
} from '../../../pipeline/inbound/reply-forward.ts'
import { fullContentType } from '../../../pipeline/inbound/stored-content.ts'
import { storedParts } from '../../../pipeline/inbound/view.ts'
import type { Mailbox } from '../../../protocols/smtp/address.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { ApiError, apiErrorOf, invalidField } from '../api-error.ts'
import { idempotencyHeader, readKey, senderOf } from '../emails/idempotency-header.ts'
import { readFrom, readMailboxes, requireText } from '../emails/send-schema.ts'
import { type ApiRequest, ok, type Route } from '../route/route.ts'
import { bodyReader, oneOrMany } from '../schema/read.ts'
import { idSchema } from '../schema/reply-schemas.ts'
import { findOwnInbound, type InboundSightParts } from './own-inbound.ts'

const forwardSchema = z.object({ from: z.string(), to: oneOrMany() })

const replySchema = z.object({
  from: z.string(),
  html: z.string().optional(),
  text: z.string().optional(),
})

const readForwardBody = bodyReader(forwardSchema, { emptyMeansAbsent: ['from'] })

const readReplyBody = bodyReader(replySchema, { emptyMeansAbsent: ['from'] })

interface InboundAnswerRoutesOptions {
  accept: Accept
  preparation: Preparation
  horizonOf: InboundSightParts['horizonOf']
  store: { db: Db; find: Find; blobs: BlobFiles }
}

/**
 * Limits of concurrent requests, in total and per account. Attachments are in memory while an email is built
 * from them.
 */
const CONCURRENT_MAX = 4
const CONCURRENT_PER_ACCOUNT_MAX = 2
const WAITING_MAX = 10

export function inboundAnswerRoutes(options: InboundAnswerRoutesOptions): Route[] {
  const { store } = options
  const slots = new FairSemaphore(CONCURRENT_MAX, CONCURRENT_PER_ACCOUNT_MAX, {
    maxPerOwner: WAITING_MAX,
  })
  const messageOf = async (request: ApiRequest) => {
    const row = await findOwnInbound(options, request)
    return { ...row, ...(await contentOf(store.find, row)) }
  }
  return [
    {
      method: 'POST',
      path: '/inbound/:id/forward',
      access: 'key',
      scopes: ['inbound:read', 'emails:send'],
      summary: 'Forward a received message with its attachments',
      body: forwardSchema,
      headers: idempotencyHeader,
      replies: { 200: z.object({ id: idSchema('eml') }) },
      async handle(request) {
        const body = await request.body()
        const { from, to } = readForward(body)
        const message = await messageOf(request)
        requireNoFault(roundsFault(message))
        return slots.run(idKey(message.accountId), async () => {
          const email = forward(message, from, to, await filesOf(message, store))
          return send(options, request, body, `forward ${wireId('inb', message.id)}`, email)
        })
      },
    },
    {
      method: 'POST',
      path: '/inbound/:id/reply',
      access: 'key',
      scopes: ['inbound:read', 'emails:send'],
      summary: 'Reply to a received message in its thread',
      body: replySchema,
      headers: idempotencyHeader,
      replies: { 200: z.object({ id: idSchema('eml') }) },
      async handle(request) {
        const body = await request.body()
        const { from, words } = readReply(body)
        const message = await messageOf(request)
        const to = replyReferences(message)
        requireNoFault(
          answerFault(message) ?? (to.length === 0 ? 'it has no address to reply to' : undefined),
        )
        const endpoint = `reply ${wireId('inb', message.id)}`
        return send(options, request, body, endpoint, replyTo(message, from, to, words))
      },
    },
  ]
}

/** @throws ApiError 422 */
function requireNoFault(fault: string | undefined) {
  if (fault !== undefined)
    throw new ApiError(422, 'validation_error', `This message cannot be replied to or forwarded: ${fault}.`)
}

/** The idempotency scope contains the received message. */
async function send(
  { accept, preparation }: InboundAnswerRoutesOptions,
  request: ApiRequest,
  body: unknown,
  endpoint: string,
  email: Submission,
) {
  const key = readKey(request)
  const idempotency = key === undefined ? null : { endpoint, key, bodyHash: canonicalHash(body as object) }
  const sender = senderOf(request)
  const prepared = await preparation.email(sender.accountId, email)
  const accepted = await accept.send(sender, prepared, idempotency)
  if (isRefusal(accepted)) throw apiErrorOf(accepted)
  return ok({ id: wireId('eml', accepted.ids[0]!) })
}

/** @throws ApiError 422 if the attachments are too large to forward */
async function filesOf(
  message: ShownInbound,
  store: { db: Db; blobs: BlobFiles },
): Promise<SubmittedAttachment[]> {
  const parts = storedParts(message)
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0)
  if (sizeBytes > MESSAGE_BYTES_MAX)
    throw invalidField('id', 'The attachments of this message are too large to forward.')
  const files: SubmittedAttachment[] = []
  for (const part of parts) {
    const { filename, contentId } = part
    const content = Buffer.concat(await Array.fromAsync(await openPart(store, message.rawHash, part)))
    files.push({ filename, contentType: fullContentType(part), contentId, content })
  }
  return files
}

/** @throws ApiError */
function readForward(body: unknown): { from: Mailbox; to: Mailbox[] } {
  const { from, to } = readForwardBody(body)
  const tooMany = refuseTooMany({ to, cc: [], bcc: [] })
  if (tooMany) throw apiErrorOf(tooMany)
  return { from: readFrom(from), to: readMailboxes('to', to) }
}

/** @throws ApiError */
function readReply(body: unknown): { from: Mailbox; words: ReplyTexts } {
  const { from, html = null, text = null } = readReplyBody(body)
  requireText({ html, text })
  return { from: readFrom(from), words: { html, text } }
}
