/**
 * Version of a broadcast's content, by which a request names exactly the content that its author has read.
 * Pure.
 */
import { createHash } from 'node:crypto'
import { idText } from '../../lib/ids.ts'
import { type Refusal, refuseField } from '../accept/refusal.ts'
import { storedAttachments } from '../accept/stored-attachments.ts'
import type { StoredBroadcast } from './broadcast-rows.ts'

type Versioned = Pick<
  StoredBroadcast,
  | 'audienceId'
  | 'segmentId'
  | 'topicId'
  | 'sender'
  | 'replyToList'
  | 'subject'
  | 'previewText'
  | 'html'
  | 'text'
  | 'attachments'
>

/** Hash of content and audience. Two states have the same version exactly if they send the same. */
export function versionOf(broadcast: Versioned): string {
  const { audienceId, segmentId, topicId, sender, replyToList, subject, previewText, html, text } = broadcast
  const ids = [audienceId, segmentId, topicId].map(id => id && idText(id))
  // duplicates have files with other ids; without files, the version is that of a release without them
  const files = storedAttachments(broadcast.attachments).map(({ filename, contentType, contentId, hash }) => [
    filename,
    contentType,
    contentId,
    hash,
  ])
  const parts = [...ids, sender, replyToList, subject, previewText, html, text]
  const content = JSON.stringify(files.length === 0 ? parts : [...parts, files])
  return createHash('sha256').update(content).digest('base64url').slice(0, VERSION_CHARACTERS)
}

/** Base64url characters of the version, 132 bits. */
const VERSION_CHARACTERS = 22

/** @param expected is the version that the request names; null when it names none */
export function refuseOtherVersion(broadcast: Versioned, expected: string | null): Refusal | undefined {
  if (expected === null || expected === versionOf(broadcast)) return undefined
  return refuseField(
    'wrong_state',
    'version',
    'The broadcast was changed after this `version` was read. Read the broadcast again, then retry with its current `version`.',
  )
}
