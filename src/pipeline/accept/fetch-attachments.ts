/**
 * Attachments that are named by a URL: fetched one after another, for few requests at a time, before anything
 * is stored. They go to the disk while they come; one and the same URL is fetched once a request.
 */
import type { Clock } from '../../lib/clock.ts'
import { createFairSemaphore } from '../../lib/fair-semaphore.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import { TooManyWaiting } from '../../lib/semaphore.ts'
import type { OutboundReply } from '../../protocols/http-client/exchange.ts'
import { OutboundFault } from '../../protocols/http-client/fault.ts'
import type { Outbound } from '../../protocols/http-client/outbound.ts'
import { shortFileName } from '../../protocols/mime/file-name.ts'
import { ANY_BYTES, isMediaType, nameForType, typeOfFile } from '../../protocols/mime/file-type.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'
import type { PreparedEmail } from './prepared.ts'
import { type Refusal, refuseField } from './refusal.ts'
import {
  attachmentName,
  encodedFileSize,
  isRemote,
  MESSAGE_BYTES_MAX,
  type RemoteAttachment,
  type StagedAttachment,
} from './submission.ts'

/** For the emails of one request. */
interface Fetching {
  /**
   * Fetches the remote attachments of an email.
   * @returns all attachments in their order, or why one of them cannot be fetched
   * @throws StorageUnavailable
   */
  attachmentsOf(email: PreparedEmail): Promise<StagedAttachment[] | Refusal>
  /** Lets the next request have its turn. */
  end(): void
}

/** @param onStaged hears of every file that has been stored for the request */
export type OpenFetching = (accountId: Id, onStaged: (blob: StagedBlob) => void) => Fetching

interface FetchOptions {
  /** Null where nothing is to be fetched. */
  outbound: Outbound | null
  clock: Clock
  blobs: Pick<BlobFiles, 'receive'>
}

/** What came of a URL. */
interface Fetched {
  reply: OutboundReply | OutboundFault
  /** Null where there is nothing to attach. */
  blob: StagedBlob | null
  limitBytes: number
}

const REQUESTS_MAX = 6
const ACCOUNT_REQUESTS_MAX = 2
const ACCOUNT_WAITING_REQUESTS_MAX = 50
/** For all attachments of a request together. */
const FETCH_MS_MAX = 30_000
const ATTACHMENT_BYTES_MAX = 56 * 1024 * 1024
/** What base64 in lines makes of a byte. */
const ENCODED_OCTETS_PER_BYTE = 78 / 57
const BUSY: Refusal = {
  refused: 'busy',
  message: 'Too many attachments are being fetched; try again later.',
}

export function createFetchAttachments(options: FetchOptions): OpenFetching {
  const { outbound } = options
  const slots = createFairSemaphore(REQUESTS_MAX, ACCOUNT_REQUESTS_MAX, {
    mostOfAnOwner: ACCOUNT_WAITING_REQUESTS_MAX,
  })
  return (accountId, onStaged) => {
    let leave: (() => void) | undefined
    let fetch: ReturnType<typeof createFetch> | undefined
    return {
      async attachmentsOf(email) {
        const first = email.attachments.findIndex(isRemote)
        if (first < 0) return email.attachments as StagedAttachment[]
        if (!outbound)
          return refuse(first, '`path` is not fetched for this request; send the file as `content`')
        try {
          leave ??= await slots.take(idKey(accountId))
        } catch (error) {
          if (error instanceof TooManyWaiting) return BUSY
          throw error
        }
        fetch ??= createFetch({ ...options, outbound, onStaged })
        return fetchAll(email, fetch)
      },
      end: () => leave?.(),
    }
  }
}

async function fetchAll(
  email: PreparedEmail,
  fetch: (url: string, mostBytes: number) => Promise<Fetched>,
): Promise<StagedAttachment[] | Refusal> {
  const attachments: StagedAttachment[] = []
  let { encodedOctets } = email
  for (const [index, attachment] of email.attachments.entries()) {
    if (!isRemote(attachment)) {
      attachments.push(attachment)
      continue
    }
    const room = Math.floor((MESSAGE_BYTES_MAX - encodedOctets) / ENCODED_OCTETS_PER_BYTE)
    const { reply, blob } = await fetch(attachment.url, Math.max(0, room))
    const fault = faultOf(reply)
    if (fault !== undefined) return refuse(index, fault)
    const file = fileOf(attachment, index, reply as OutboundReply, blob!)
    encodedOctets += encodedFileSize(file, blob!.sizeBytes)
    if (encodedOctets > MESSAGE_BYTES_MAX) return refuse(index, TOO_LARGE)
    attachments.push(file)
  }
  return attachments
}

/** The fetches of one request share their limits and what they have found. */
function createFetch({
  outbound,
  clock,
  blobs,
  onStaged,
}: FetchOptions & { outbound: Outbound; onStaged: (blob: StagedBlob) => void }) {
  const endsAt = clock.monotonic() + FETCH_MS_MAX
  const known = new Map<string, Fetched>()
  let leftBytes = ATTACHMENT_BYTES_MAX

  const fetched = async (url: string, limitBytes: number): Promise<Fetched> => {
    const stream = blobs.receive()
    let kept = false
    try {
      const reply = await outbound.send({
        url,
        limitMs: Math.max(1, endsAt - clock.monotonic()),
        limitBytes,
        into(piece) {
          leftBytes -= piece.length
          return stream.write(piece)
        },
      })
      if (faultOf(reply) !== undefined) return { reply, blob: null, limitBytes }
      const blob = await stream.finish()
      kept = true
      onStaged(blob)
      return { reply, blob, limitBytes }
    } finally {
      if (!kept) await stream.discard()
    }
  }

  return async (url: string, mostBytes: number): Promise<Fetched> => {
    const limitBytes = Math.max(0, Math.min(mostBytes, leftBytes))
    const former = known.get(url)
    if (former && !(isTooLarge(former.reply) && former.limitBytes < limitBytes)) return former
    const fresh = await fetched(url, limitBytes)
    known.set(url, fresh)
    return fresh
  }
}

const TOO_LARGE = 'the file behind `path` is too large for a message'

function isTooLarge(reply: OutboundReply | OutboundFault): boolean {
  return reply instanceof OutboundFault && reply.kind === 'too-large'
}

/** Why there is nothing to attach, to be put after the attachment's number. */
function faultOf(reply: OutboundReply | OutboundFault): string | undefined {
  if (reply instanceof OutboundFault)
    return isTooLarge(reply) ? TOO_LARGE : `\`path\` cannot be fetched: ${reply.message}`
  if (reply.status !== 200) return `\`path\` cannot be fetched: the host answers ${reply.status}`
  if ((reply.headers['content-encoding'] ?? 'identity') !== 'identity')
    return '`path` cannot be fetched: the reply is compressed'
  return undefined
}

function fileOf(
  { url, filename: givenName, contentType: givenType, contentId }: RemoteAttachment,
  index: number,
  { headers }: OutboundReply,
  blob: StagedBlob,
): StagedAttachment {
  const foundName = givenName ?? nameIn(url)
  const type = givenType ?? typeOfFile(foundName) ?? typeIn(headers['content-type'])
  const filename = foundName === '' ? attachmentName(index, type) : foundName
  return {
    filename: givenName ?? shortFileName(typeOfFile(filename) ? filename : nameForType(filename, type)),
    contentType: type ?? ANY_BYTES,
    contentId,
    blob,
  }
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
  return shortFileName(name.replace(/\p{Cc}/gu, ''))
}

function typeIn(header: string | undefined): string | undefined {
  return header !== undefined && isMediaType(header) ? header : undefined
}
