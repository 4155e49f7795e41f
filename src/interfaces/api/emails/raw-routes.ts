/** Serves the message of an email as one recipient got it. */
import * as z from 'zod'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import { type Id, idKey } from '../../../lib/ids.ts'
import type { RebuiltMessage } from '../../../pipeline/delivery/message/rebuild.ts'
import { foldAddress, parseMailbox } from '../../../protocols/smtp/address.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { invalidField, notFound, orNotFound } from '../api-error.ts'
import type { RawHttpReply, Route } from '../route/route.ts'
import { findOwnEmail, type OwnEmailOptions } from './own-email.ts'

interface RawEmailRoutesOptions {
  horizonOf: OwnEmailOptions['horizonOf']
  store: { db: Db; find: Find }
  reader: {
    rebuildMessage(delivery: { accountId: Id; emailId: Id; ordinal: number }): Promise<Message | undefined>
  }
}

interface Message {
  fidelity: RebuiltMessage['fidelity']
  head: Uint8Array
  body: Uint8Array
}

/**
 * Limits of concurrent requests, in total and per account. A message has up to 56 MB and is in memory while
 * it is sent.
 */
const CONCURRENT_MAX = 8
const CONCURRENT_PER_ACCOUNT_MAX = 2
const WAITING_MAX = 10
const PIECE_BYTES = 64 * 1024

export function rawEmailRoutes(options: RawEmailRoutesOptions): Route[] {
  const { store, reader } = options
  const slots = new FairSemaphore(CONCURRENT_MAX, CONCURRENT_PER_ACCOUNT_MAX, {
    maxPerOwner: WAITING_MAX,
  })
  return [
    {
      method: 'GET',
      path: '/emails/:id/raw',
      access: 'key',
      summary: 'Retrieve the signed message as sent to a recipient',
      query: {
        recipient: z
          .string()
          .optional()
          .meta({ description: 'Address of a recipient; by default the first.' }),
      },
      replies: { 200: 'message/rfc822' },
      async handle(request) {
        const wanted = readRecipient(request.query)
        const { accountId, id: emailId } = await findOwnEmail(options, request, [])
        const ordinal = await ordinalOf(store.db, emailId, wanted)
        if (ordinal === undefined) throw notFound('Recipient')
        const leave = await slots.take(idKey(accountId))
        try {
          const message = await reader.rebuildMessage({ accountId, emailId, ordinal })
          return replyOf(orNotFound(message, 'Email'), leave)
        } catch (error) {
          leave()
          throw error
        }
      },
    },
  ]
}

/**
 * Returns the folded address, or undefined for the first recipient.
 *
 * @throws ApiError 422
 */
function readRecipient(query: URLSearchParams): string | undefined {
  const text = query.get('recipient') ?? ''
  if (text === '') return undefined
  const parsed = parseMailbox(text)
  if ('fault' in parsed)
    throw invalidField(
      'recipient',
      `The \`recipient\` parameter must be an email address: it ${parsed.fault}.`,
    )
  return foldAddress(parsed.address)
}

async function ordinalOf(db: Db, emailId: Id, wanted: string | undefined): Promise<number | undefined> {
  const deliveries = await db
    .selectFrom('deliveries')
    .select(['ordinal', 'address'])
    .where('emailId', '=', emailId)
    .orderBy('ordinal')
    .execute()
  return deliveries.find(({ address }) => wanted === undefined || foldAddress(address) === wanted)?.ordinal
}

function replyOf({ fidelity, head, body }: Message, done: () => void): RawHttpReply {
  return {
    status: 200,
    headers: {
      'content-type': 'message/rfc822',
      'content-length': String(head.length + body.length),
      'content-disposition': 'attachment; filename="email.eml"',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-mailhorn-raw': fidelity,
    },
    content: piecesOf(head, body),
    done,
  }
}

async function* piecesOf(...parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const part of parts)
    for (let at = 0; at < part.length; at += PIECE_BYTES) yield part.subarray(at, at + PIECE_BYTES)
}
