/**
 * Search index of emails. Consecutive emails are sealed into index blocks, which are searched without reading
 * the rows. This file declares what every command that writes emails must report to the index;
 * `resources/search` builds and queries the blocks.
 */
import type { Id } from '../lib/ids.ts'
import { EMAIL_STATUSES, type EmailStatus } from './schema.ts'

/** Most emails of one segment. */
export const BLOCK_EMAILS = 1024
/** Of one id, where many stand in a row. */
export const ID_BYTES = 16
/** Announced with an account's id when it has emails to be sealed. */
export const UNSEALED = 'unsealed'

/** A segment about to be sealed; see the rows of the same names. */
export interface NewIndexBlock {
  accountId: Id
  afterId: Id
  lastId: Id
  earliestAt: number
  latestAt: number
  ids: Uint8Array
  subjects: Uint8Array
  terms: readonly string[]
  /** By term. */
  ordinals: readonly Uint8Array[]
}

/** An email has got another status; null when it has been deleted. */
export interface IndexBlockMove {
  accountId: Id
  id: Id
  status: EmailStatus | null
}

/**
 * Keeps the segments in step with the emails; part of every command that stores emails, moves or deletes
 * them.
 */
export interface IndexBlockOps {
  /** Emails have been stored. One whose id was made long ago breaks up the segment it would belong to. */
  arrived(emails: readonly { accountId: Id; id: Id }[]): Promise<void>
  moved(moves: readonly IndexBlockMove[]): Promise<void>
  /** False when the emails in its range are not, or no longer, those of the segment. */
  seal(segment: NewIndexBlock): Promise<boolean>
}

/** The byte of an email that has been deleted. */
export const GONE = 0

/** A status in one byte, as segments keep it. */
export function statusByte(status: EmailStatus | null): number {
  return status === null ? GONE : EMAIL_STATUSES.indexOf(status) + 1
}

/** The place of an id among ascending ids of 16 bytes each, or -1. */
export function ordinalOf(ids: Buffer, id: Id): number {
  let low = 0
  let high = ids.length / ID_BYTES
  while (low < high) {
    const middle = (low + high) >> 1
    const order = ids.compare(id, 0, ID_BYTES, middle * ID_BYTES, (middle + 1) * ID_BYTES)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return -1
}

/** One of many ids in a row. */
export function idAt(ids: Uint8Array, ordinal: number): Id {
  return ids.subarray(ordinal * ID_BYTES, (ordinal + 1) * ID_BYTES)
}
