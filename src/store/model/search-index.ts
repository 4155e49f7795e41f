/**
 * Search index of emails. Consecutive emails are sealed into index blocks, which are searched without reading
 * the rows. This file declares what every command that writes emails must report to the index;
 * `resources/search` builds and queries the blocks.
 */
import type { Id } from '../../lib/ids.ts'
import { EMAIL_STATUSES, type EmailStatus } from './schema.ts'

/** Maximum number of emails in one index block. */
export const BLOCK_EMAILS = 1024
/** Size of one id in a row of ids, in bytes. */
export const ID_BYTES = 16
/** Topic of announcements: ids of accounts that have emails to be sealed. */
export const UNSEALED = 'unsealed'

/** An index block about to be sealed; see `EmailSegmentRow` for its fields. */
export interface NewIndexBlock {
  accountId: Id
  afterId: Id
  lastId: Id
  earliestAt: number
  latestAt: number
  ids: Uint8Array
  subjects: Uint8Array
  details: Uint8Array
  terms: readonly string[]
  /** Ordinals of the emails with each term. */
  ordinals: readonly Uint8Array[]
}

/** Change of an email's status; null when the email was deleted. */
export interface IndexBlockMove {
  accountId: Id
  id: Id
  status: EmailStatus | null
}

/**
 * Keeps the index blocks in step with the emails. Every command that stores, changes or deletes emails calls
 * them.
 */
export interface IndexBlockOps {
  /**
   * Reports stored emails. An email whose id lies in the range of an existing index block dissolves that
   * block.
   */
  arrived(emails: readonly { accountId: Id; id: Id }[]): Promise<void>
  moved(moves: readonly IndexBlockMove[]): Promise<void>
  /**
   * Stores an index block.
   * @returns false when the emails in its range are no longer those of the block
   */
  seal(segment: NewIndexBlock): Promise<boolean>
}

/** Byte of an email that was deleted. */
export const GONE = 0

/** @returns the status as a byte, as index blocks store it */
export function statusByte(status: EmailStatus | null): number {
  return status === null ? GONE : EMAIL_STATUSES.indexOf(status) + 1
}

/** @returns the index of an id in a row of ascending ids, or -1 */
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

export function idAt(ids: Uint8Array, ordinal: number): Id {
  return ids.subarray(ordinal * ID_BYTES, (ordinal + 1) * ID_BYTES)
}
