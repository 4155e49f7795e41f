/**
 * Fetches attachments that are given by URL, before anything is stored. Few requests fetch at a time, and
 * each fetches one file after another. A file is streamed to the disk. A URL that occurs several times in a
 * request is fetched once.
 */
import type { Clock } from '../../lib/clock.ts'
import { FairSemaphore } from '../../lib/fair-semaphore.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import { TooManyWaiting } from '../../lib/semaphore.ts'
import type { OutboundReply } from '../../protocols/http-client/exchange.ts'
import { OutboundFault } from '../../protocols/http-client/fault.ts'
import type { Outbound } from '../../protocols/http-client/outbound.ts'
import { shortFileName } from '../../protocols/mime/file-name.ts'
import { ANY_BYTES, legibleMediaType, nameForType, typeOfFile } from '../../protocols/mime/file-type.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'
import { ENCODED_OCTETS_PER_BYTE, MESSAGE_BYTES_MAX } from './message-limits.ts'
import type { PreparedEmail } from './prepared.ts'
import { type Refusal, refuseField } from './refusal.ts'
import {
  attachmentName,
  encodedFileSize,
  isRemote,
  type RemoteAttachment,
  type StagedAttachment,
} from './submission.ts'

/** Fetches for the emails of one request. */
interface Fetching {
  /**
   * Fetches the remote attachments of an email.
   * @returns all attachments in their order, or why one of them cannot be fetched
   * @throws StorageUnavailable
   */
  attachmentsOf(email: PreparedEmail): Promise<StagedAttachment[] | Refusal>
  /** Releases the slot of this request. */
  end(): void
}

/** @param onStaged is called with every file that has been staged for the request */
export type OpenFetching = (accountId: Id, onStaged: (blob: StagedBlob) => void) => Fetching

interface FetchOptions {
  /** Null if fetching is disabled. */
  outbound: Outbound | null
  clock: Clock
  blobs: Pick<BlobFiles, 'receive'>
}

/** The result of a fetch. */
interface Fetched {
  reply: OutboundReply | OutboundFault
  /** Null if the fetch failed. */
  blob: StagedBlob | null
  limitBytes: number
}

const REQUESTS_MAX = 6
const ACCOUNT_REQUESTS_MAX = 2
const ACCOUNT_WAITING_REQUESTS_MAX = 50
/** Time limit for all attachments of a request together, in ms. */
const FETCH_MS_MAX = 30_000
const ATTACHMENT_BYTES_MAX = 56 * 1024 * 1024
const BUSY: Refusal = {
  refused: 'busy',
  message: 'Too many attachments are being downloaded. Retry later.',
}

export function createFetchAttachments(options: FetchOptions): OpenFetching {
  const { outbound, clock, blobs } = options
  const slots = new FairSemaphore(REQUESTS_MAX, ACCOUNT_REQUESTS_MAX, {
    maxPerOwner: ACCOUNT_WAITING_REQUESTS_MAX,
  })
  return (accountId, onStaged) => {
    let leave: (() => void) | undefined
    let fetch: ReturnType<typeof createFetch> | undefined
    return {
      async attachmentsOf(email) {
        const first = email.attachments.findIndex(isRemote)
        if (first < 0) return email.attachments as StagedAttachment[]
        if (!outbound)
          return refuse(
            first,
            '`path` is not fetched unless the setting `fetch.attachments` is on; send the file as `content`',
          )
        try {
          leave ??= await slots.take(idKey(accountId))
        } catch (error) {
          if (error instanceof TooManyWaiting) return BUSY
          throw error
        }
        fetch ??= createFetch({ outbound, clock, blobs, onStaged })
        return fetchAll(email, fetch)
      },
      end: () => leave?.(),
    }
  }
}

async function fetchAll(
  email: PreparedEmail,
  fetch: (url: string, maxBytes: number) => Promise<Fetched>,
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

/** The fetches of a request share a time limit, a size limit and their results. */
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
    let isStored = false
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
      isStored = true
      onStaged(blob)
      return { reply, blob, limitBytes }
    } finally {
      if (!isStored) await stream.discard()
    }
  }

  return async (url: string, maxBytes: number): Promise<Fetched> => {
    const limitBytes = Math.max(0, Math.min(maxBytes, leftBytes))
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

/** @returns why a reply cannot be attached, as a clause that follows the attachment's number */
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
  const type = givenType ?? typeOfFile(foundName) ?? legibleMediaType(headers['content-type'] ?? '')
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

/** @returns the last segment of the URL's path, which may be empty */
function nameIn(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1)!
  let name = last
  try {
    name = decodeURIComponent(last)
  } catch {
    // The segment is not UTF-8. It stays percent-encoded.
  }
  return shortFileName(name.replace(/\p{Cc}/gu, ''))
}
