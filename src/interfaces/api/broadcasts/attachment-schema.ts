/**
 * Reads the `attachments` of a broadcast: the same as those of an email, except that an entry may name an
 * attachment that the broadcast has already, and none is downloaded.
 */
import * as z from 'zod'
import { parseWireId, wireId } from '../../../lib/ids.ts'
import { ATTACHMENTS_MAX } from '../../../pipeline/accept/message-limits.ts'
import { isRemote } from '../../../pipeline/accept/submission.ts'
import type { WantedAttachment } from '../../../pipeline/broadcasts/attachments.ts'
import { fieldNotFound, invalidField } from '../api-error.ts'
import { attachmentMeta, readAttachment, refuser, tooManyAttachments } from '../emails/attachment-schema.ts'
import { presentSpelling } from '../schema/read.ts'

const { path: _path, ...properties } = attachmentMeta.properties as Record<string, object>

const schemaWith = (more: Record<string, object>) =>
  z.array(z.looseObject({}).meta({ properties: { ...properties, ...more } })).optional()
export const newAttachmentsSchema = schemaWith({})
export const changedAttachmentsSchema = schemaWith({
  id: { type: 'string', description: 'In place of `content`: an attachment of the broadcast that stays.' },
})

export const attachmentsLimit = { key: 'attachments', max: ATTACHMENTS_MAX, refuse: tooManyAttachments }

export interface ReadAttachments {
  attachments: WantedAttachment[]
  /** Paths of contents that were perhaps not meant as base64. */
  doubtfulContents: string[]
}

/**
 * @param mayKeep whether the broadcast exists, so that entries may name its attachments
 * @throws ApiError 422 invalid_attachment, which names the attachment and its field
 */
export function readBroadcastAttachments(
  list: readonly Record<string, unknown>[] = [],
  mayKeep = false,
): ReadAttachments {
  const doubtfulContents: string[] = []
  const attachments = list.map((raw, index): WantedAttachment => {
    const existingId = mayKeep ? existingIn(raw, index) : undefined
    if (existingId !== undefined) return { existingId }
    const file = readAttachment(raw, index, () => doubtfulContents.push(`attachments[${index}].content`))
    if (!isRemote(file)) return file
    throw refuser(index)('.path', '`path` is not fetched for a broadcast; send the file as `content`')
  })
  return { attachments, doubtfulContents }
}

/** Whether the body of a PATCH removes all attachments: by null or an empty list. */
export function removesAttachments(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  const attachments = presentSpelling(body as Record<string, unknown>, 'attachments')
  return attachments === null || (Array.isArray(attachments) && attachments.length === 0)
}

/** @throws ApiError 404 */
function existingIn({ id, content, path }: Record<string, unknown>, index: number): string | undefined {
  const isNew = [content, path].some(value => value !== undefined && value !== null)
  if (isNew || id === undefined || id === null) return undefined
  const key = `attachments[${index}].id`
  if (typeof id !== 'string') throw invalidField(key, `\`${key}\` must be a string.`, 'invalid_attachment')
  const parsed = parseWireId('att', id)
  if (!parsed) throw fieldNotFound(key, 'Attachment')
  return wireId('att', parsed)
}
