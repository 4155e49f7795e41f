/**
 * Mail received for customers' domains, as stored: on the disk before it is acknowledged, and read
 * afterwards.
 */
import { sql } from 'kysely'
import { type Id, idKey } from '../../lib/ids.ts'
import { referBlobs } from '../../store/blobs/blobs.ts'
import { INLINE_BYTES_MAX, type StagedBlob } from '../../store/blobs/staged.ts'
import { batchCommand, command, concurrent, type Tx } from '../../store/model/command.ts'
import type { InboundMessageRow } from '../../store/model/schema/inbound.ts'
import type { Db } from '../../store/model/schema.ts'

/** A message for one account. */
export interface NewInbound {
  accountId: Id
  /** Domain of the first recipient. */
  domainId: Id
  /** Recipients of the envelope, each once. */
  recipients: readonly string[]
}

interface StoreInbound {
  messages: readonly NewInbound[]
  /** Sender of the envelope; empty for the null sender. */
  sender: string
  clientIp: string | null
  helo: string | null
  tls: string | null
  sizeBytes: number
  blob: StagedBlob
  /** The delivery of ours that it is, which comes in once, however often it is tried. */
  source: { emailId: Id; ordinal: number } | null
  at: number
}

/** Topics of announcements: there are messages to be read, in the database or in files. */
export const INBOUND_STORED = { small: 'inbound_stored', large: 'inbound_stored_large' } as const

export const inboundCommands = {
  /** @returns the ids of what is new, for each input */
  storeInbound: concurrent(batchCommand<StoreInbound, Id[]>(storeAll), ({ blob, source }) => [
    `blob ${idKey(blob.hash)}`,
    ...(source ? [`inbound source ${idKey(source.emailId)} ${source.ordinal}`] : []),
  ]),
  /**
   * Records that a message is being read, or no longer is where `at` is null. `count` is the number of runs
   * of the service that began to read it.
   */
  markInboundReading: concurrent(
    command<{ accountId: Id; id: Id; at: number | null; count: number }, void>(
      async (tx, { accountId, id, at, count }) => {
        const marked = { accountId, id, readingAt: at, readingCount: count }
        await tx.rows.update('inboundMessages', ['accountId', 'id'], [marked])
      },
    ),
    ({ id }) => [`inbound ${idKey(id)}`],
  ),
}

async function storeAll(tx: Tx, inputs: readonly StoreInbound[]): Promise<Id[][]> {
  const isThere = await findSources(tx, inputs)
  const rows = inputs.map((input, i) => (isThere[i] ? [] : rowsOf(tx, input)))
  for (const [i, { blob, at }] of inputs.entries())
    await referBlobs(
      tx,
      rows[i]!.map(() => blob),
      at,
    )
  await tx.rows.insert('inboundMessages', rows.flat())
  for (const sizes of new Set(inputs.filter((_, i) => rows[i]!.length > 0).map(sizesOf)))
    tx.announce(INBOUND_STORED[sizes], null)
  return rows.map(own => own.map(({ id }) => id))
}

function sizesOf({ sizeBytes }: StoreInbound): keyof typeof INBOUND_STORED {
  return sizeBytes > INLINE_BYTES_MAX ? 'large' : 'small'
}

/** Whether a delivery of ours has come in before. */
async function findSources(tx: Tx, inputs: readonly StoreInbound[]): Promise<boolean[]> {
  const isThere = inputs.map(() => false)
  const handed = inputs.flatMap(({ source }, i) => (source ? [{ ...source, i }] : []))
  const found = await tx.rows.find(
    'inboundMessages',
    handed.map(({ emailId, ordinal }) => ({ sourceEmailId: emailId, sourceOrdinal: ordinal })),
    ['id'],
  )
  for (const [at, { i }] of handed.entries()) isThere[i] = found[at] !== undefined
  return isThere
}

function rowsOf(tx: Tx, { messages, source, blob, at, ...mail }: StoreInbound) {
  const { sender, clientIp, helo, tls, sizeBytes } = mail
  return messages.map(({ accountId, domainId, recipients }) => ({
    accountId,
    id: tx.newId(at),
    createdAt: at,
    domainId,
    sender,
    recipients: JSON.stringify(recipients),
    clientIp,
    helo,
    tls,
    sizeBytes,
    rawHash: blob.hash,
    sourceEmailId: source?.emailId ?? null,
    sourceOrdinal: source?.ordinal ?? null,
  }))
}

export type UnlistedInbound = Pick<InboundMessageRow, (typeof UNLISTED)[number]>
const UNLISTED = [
  'accountId',
  'id',
  'createdAt',
  'domainId',
  'sender',
  'recipients',
  'clientIp',
  'helo',
  'tls',
  'sizeBytes',
  'rawHash',
  'readingAt',
  'readingCount',
] as const

/** Messages that have been taken and not been read yet, and whose bytes are in the database; oldest first. */
export async function unlistedSmallInbound(db: Db, limit: number): Promise<UnlistedInbound[]> {
  return unlistedSmall(db).orderBy('id').limit(limit).execute()
}

/** The newest of the messages that `unlistedSmallInbound` finds; newest first. */
export async function newestUnlistedSmallInbound(db: Db, limit: number): Promise<UnlistedInbound[]> {
  return unlistedSmall(db).orderBy('id', 'desc').limit(limit).execute()
}

function unlistedSmall(db: Db) {
  return db
    .selectFrom('inboundMessages')
    .select(UNLISTED)
    .where('listedAt', 'is', null)
    .where('sizeBytes', '<=', INLINE_BYTES_MAX)
}

const LARGE_PER_ACCOUNT = 4

/**
 * The same for messages whose bytes are in files: the few oldest ones of each account, so that accounts take
 * turns.
 */
export async function unlistedLargeInbound(db: Db, limit: number): Promise<UnlistedInbound[]> {
  const numbered = db
    .selectFrom('inboundMessages')
    .select(eb => [
      ...UNLISTED,
      eb.fn
        .agg<number>('row_number')
        .over(over => over.partitionBy('accountId').orderBy('id'))
        .as('place'),
    ])
    .where('listedAt', 'is', null)
    // as a literal, so that the databases know that their index of large messages can be used
    .where('sizeBytes', '>', sql<number>`${sql.lit(INLINE_BYTES_MAX)}`)
  return db
    .selectFrom(numbered.as('numbered'))
    .select(UNLISTED)
    .where('place', '<=', LARGE_PER_ACCOUNT)
    .orderBy('place')
    .orderBy('id')
    .limit(limit)
    .execute()
}
