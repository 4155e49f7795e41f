/**
 * Attachments of broadcasts. Their bytes are stored once. The broadcast refers to them as long as it exists,
 * and each of its emails refers to them like any other email, so that neither needs the other.
 *
 * In: the list of a request, and the list that is stored with a broadcast. Out: staged files for the commands
 * in `draft.ts`, and files for emails.
 */
import type { Clock } from '../../lib/clock.ts'
import { type IdSource, wireId } from '../../lib/ids.ts'
import { type BlobFiles, releaseBlobs } from '../../store/blobs/blobs.ts'
import type { BlobReservations } from '../../store/blobs/reservations.ts'
import { blobHash, blobName, type StagedBlob } from '../../store/blobs/staged.ts'
import type { Tx } from '../../store/model/command.ts'
import type { Db, Json } from '../../store/model/schema.ts'
import { BROADCAST_ATTACHMENTS_BYTES_MAX } from '../accept/message-limits.ts'
import { type Refusal, refuseField } from '../accept/refusal.ts'
import { type StoredAttachment, storedAttachments } from '../accept/stored-attachments.ts'
import { encodedFileSize, type SubmittedAttachment } from '../accept/submission.ts'

/** An attachment that the broadcast has already, named by its id. */
interface KeptAttachment {
  existingId: string
}

export type WantedAttachment = KeptAttachment | SubmittedAttachment

/** An attachment whose content is staged. */
interface StagedFile {
  file: StoredAttachment
  blob: StagedBlob
}

/** An entry of the list that a command stores with a broadcast. */
export type NewAttachment = KeptAttachment | StagedFile

interface AttachmentStore {
  blobs: BlobFiles
  reservations: BlobReservations
  newId: IdSource
  clock: Clock
}

/**
 * Stages the files of a request and runs the command that refers to them. They are durable before it runs,
 * and are deleted again if it refuses them.
 * @throws StorageUnavailable
 */
export async function withStagedFiles<T>(
  { blobs, reservations, newId, clock }: AttachmentStore,
  wanted: readonly WantedAttachment[],
  command: (attachments: NewAttachment[]) => Promise<T>,
): Promise<T> {
  const reservation = reservations.open([])
  let isSettled = false
  try {
    const attachments: NewAttachment[] = []
    for (const each of wanted) {
      if ('existingId' in each) {
        attachments.push(each)
        continue
      }
      const { content, ...file } = each
      const blob = await blobs.stage(content)
      reservation.add(blob)
      const id = wireId('att', newId(clock.now()))
      const { sizeBytes } = blob
      attachments.push({ file: { id, ...file, sizeBytes, hash: blobName(blob.hash) }, blob })
    }
    await reservation.place(attachments.flatMap(each => ('blob' in each ? [each.blob] : [])))
    const done = await command(attachments)
    isSettled = true
    return done
  } finally {
    await reservation.end(isSettled)
  }
}

/** A list to be stored with a broadcast, and the blobs that it refers to. */
interface AttachmentList {
  attachments: Json | null
  blobs: StagedBlob[]
}

/** @param before list that the broadcast has */
export function attachmentList(
  before: Json | null,
  wanted: readonly NewAttachment[],
): AttachmentList | Refusal {
  const known = new Map(storedAttachments(before).map(file => [file.id, file]))
  const files: StoredAttachment[] = []
  const blobs: StagedBlob[] = []
  for (const [index, each] of wanted.entries()) {
    const path = `attachments[${index}]`
    const file = 'file' in each ? each.file : known.get(each.existingId)
    if (!file) return refuseField('unknown_reference', `${path}.id`, `Attachment not found (\`${path}.id\`).`)
    const twice = [
      files.some(({ id }) => id === file.id) && { key: 'id', value: file.id },
      file.contentId !== null &&
        files.some(({ contentId }) => contentId === file.contentId) && {
          key: 'content_id',
          value: file.contentId,
        },
    ].find(found => found !== false)
    if (twice) return refuseField('invalid_attachment', `${path}.${twice.key}`, notUnique(index, twice))
    files.push(file)
    blobs.push('blob' in each ? each.blob : blobOf(file))
  }
  const octets = files.reduce((sum, file) => sum + encodedFileSize(file, file.sizeBytes), 0)
  if (octets > BROADCAST_ATTACHMENTS_BYTES_MAX)
    return refuseField('invalid_attachment', 'attachments', tooLarge(octets))
  return { attachments: files.length === 0 ? null : JSON.stringify(files), blobs }
}

function notUnique(index: number, { key, value }: { key: string; value: string }): string {
  return `Attachment ${index + 1}: \`${key}\` must be unique; "${value}" is used twice.`
}

function tooLarge(octets: number): string {
  const inMb = (bytes: number) => (bytes / 1024 / 1024).toFixed(bytes % (1024 * 1024) === 0 ? 0 : 2)
  return (
    `\`attachments\` of a broadcast must not be larger than ${inMb(BROADCAST_ATTACHMENTS_BYTES_MAX)} MB in total, ` +
    `encoded, because each recipient gets a copy; got ${inMb(octets)} MB.`
  )
}

/** Removes the uses of a stored list. Part of a command; the caller then calls `discardFiles`. */
export async function releaseAttachments(tx: Tx, attachments: Json | null): Promise<string[]> {
  return releaseBlobs(
    tx,
    storedAttachments(attachments).map(({ hash }) => hash),
  )
}

/** Removes files of a list that was stored before, unless something else uses them. */
export async function discardFiles(
  { blobs, db }: { blobs: BlobFiles; db: Db },
  attachments: Json | null,
): Promise<void> {
  for (const { hash } of storedAttachments(attachments)) await blobs.discard(db, hash)
}

/** Returns the list of another broadcast, or of its emails. Its blobs exist while that broadcast does. */
export function sameList(attachments: Json | null): AttachmentList {
  return { attachments, blobs: storedAttachments(attachments).map(blobOf) }
}

function blobOf({ hash, sizeBytes }: StoredAttachment): StagedBlob {
  return { hash: blobHash(hash), sizeBytes, body: null, draft: null }
}
