/** Attachments that are named by a URL: fetched one after another, for few emails at a time, before anything is stored. */

import type { Clock } from '../lib/clock.ts'
import { createFairSlots } from '../lib/fair-slots.ts'
import { type Id, idKey } from '../lib/ids.ts'
import { TooManyWaiting } from '../lib/semaphore.ts'
import { ANY_BYTES, isMediaType, nameForType, typeOfFile } from '../mime/file-type.ts'
import type { OutboundReply } from '../outbound/exchange.ts'
import { OutboundFault } from '../outbound/fault.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { isRefusal, type Refusal, refuseField } from './refusal.ts'
import {
  attachmentName,
  encodedSize,
  isRemote,
  MOST_MESSAGE_BYTES,
  type RemoteAttachment,
  type SubmittedAttachment,
  type WholeSubmission,
  type Worded,
} from './submission.ts'

/** The submission with all its bytes, or why one of them is not to be had. */
export type FetchAttachments = (accountId: Id, submission: Worded) => Promise<WholeSubmission | Refusal>

const EMAILS_AT_ONCE = 6
const EMAILS_AT_ONCE_OF_AN_ACCOUNT = 2
const EMAILS_WAITING_OF_AN_ACCOUNT = 50
/** For all attachments of an email together. */
const LIMIT_MS = 30_000
/** What base64 in lines makes of a byte. */
const ENCODED_OCTETS_PER_BYTE = 78 / 57
const LONGEST_NAME = 200

/** @param outbound null where nothing is to be fetched */
export function createFetchAttachments({
  outbound,
  clock,
}: {
  outbound: Outbound | null
  clock: Clock
}): FetchAttachments {
  const slots = createFairSlots(EMAILS_AT_ONCE, EMAILS_AT_ONCE_OF_AN_ACCOUNT, EMAILS_WAITING_OF_AN_ACCOUNT)
  return async (accountId, submission) => {
    const first = submission.attachments.findIndex(isRemote)
    if (first < 0) return submission as WholeSubmission
    if (!outbound) return refuse(first, '`path` is not fetched here; send the bytes of the file as `content`')
    try {
      const leave = await slots.take(idKey(accountId))
      try {
        return await fetchAll(outbound, clock, submission)
      } finally {
        leave()
      }
    } catch (error) {
      if (!(error instanceof TooManyWaiting)) throw error
      return { refused: 'busy', message: 'Too many attachments are being fetched; try again later.' }
    }
  }
}

async function fetchAll(
  outbound: Outbound,
  clock: Clock,
  submission: Worded,
): Promise<WholeSubmission | Refusal> {
  const endsAt = clock.monotonic() + LIMIT_MS
  const attachments = [...submission.attachments]
  for (const [index, attachment] of attachments.entries()) {
    if (!isRemote(attachment)) continue
    const room = MOST_MESSAGE_BYTES - encodedSize({ ...submission, attachments })
    const result = await outbound.send({
      url: attachment.url,
      limitMs: Math.max(1, endsAt - clock.monotonic()),
      limitBytes: Math.max(0, Math.floor(room / ENCODED_OCTETS_PER_BYTE)),
    })
    const file = fileOf(attachment, index, result)
    if (isRefusal(file)) return file
    attachments[index] = file
  }
  return { ...submission, attachments: attachments as SubmittedAttachment[] }
}

function fileOf(
  { url, filename: givenName, contentType: givenType, contentId }: RemoteAttachment,
  index: number,
  result: OutboundReply | OutboundFault,
): SubmittedAttachment | Refusal {
  if (result instanceof OutboundFault) return refuse(index, reasonOf(result))
  const { status, headers, body } = result
  if (status !== 200) return refuse(index, `\`path\` cannot be fetched: the host answers ${status}`)
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    return refuse(index, '`path` cannot be fetched: the reply is compressed')
  const foundName = givenName ?? nameIn(url)
  const type = givenType ?? typeOfFile(foundName) ?? typeIn(headers['content-type'])
  const filename = foundName === '' ? attachmentName(index, type) : foundName
  return {
    filename: givenName ?? (typeOfFile(filename) ? filename : nameForType(filename, type)),
    contentType: type ?? ANY_BYTES,
    contentId,
    content: body,
  }
}

function reasonOf({ kind, message }: OutboundFault): string {
  return kind === 'too-large'
    ? 'the file behind `path` is too large for a message'
    : `\`path\` cannot be fetched: ${message}`
}

function refuse(index: number, message: string): Refusal {
  return refuseField(
    'invalid_attachment',
    `attachments[${index}].path`,
    `Attachment ${index + 1}: ${message}.`,
  )
}

/** The last part of the URL's path, or nothing. */
function nameIn(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1)!
  let name = last
  try {
    name = decodeURIComponent(last)
  } catch {
    // bytes that are no UTF-8: they stay as they are written
  }
  return name.replace(/\p{Cc}/gu, '').slice(0, LONGEST_NAME)
}

function typeIn(header: string | undefined): string | undefined {
  return header !== undefined && isMediaType(header) ? header : undefined
}
