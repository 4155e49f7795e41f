/** Attachments in the rows of emails and broadcasts: the list as JSON, and the files that it names. */
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import { blobHash } from '../../store/blobs/staged.ts'
import type { Db, Json } from '../../store/model/schema.ts'

/** An attachment in the row of an email or a broadcast. */
export interface StoredAttachment {
  id: string
  filename: string
  contentType: string
  contentId: string | null
  sizeBytes: number
  /** SHA-256 in hex. */
  hash: string
}

type AttachmentFile = Pick<StoredAttachment, 'filename' | 'contentType' | 'contentId'> & {
  content: Buffer
}

export function storedAttachments(json: Json | null): StoredAttachment[] {
  return json === null ? [] : (JSON.parse(json) as StoredAttachment[])
}

/** @throws when a file is missing */
export function readAttachments(
  { blobs, db }: { blobs: Pick<BlobFiles, 'read'>; db: Db },
  json: Json | null,
): Promise<AttachmentFile[]> {
  return Promise.all(
    storedAttachments(json).map(async ({ filename, contentType, contentId, hash }) => ({
      ...{ filename, contentType, contentId },
      content: await blobs.read(db, blobHash(hash)),
    })),
  )
}
