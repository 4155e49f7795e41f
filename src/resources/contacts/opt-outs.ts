/**
 * Opt-outs by address. The choice of an address's owner outlives its contacts and also applies to addresses
 * without a contact. A contact created later inherits it, until the owner, or the account for that contact,
 * decides otherwise.
 */
import { type Id, sameId } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import type { Db, OptOutRow } from '../../store/model/schema.ts'

export interface OptOut {
  isFromEverything: boolean
  topicIds: Id[]
}

/** Opt-out of one address, in lower case. */
interface Owner {
  accountId: Id
  email: string
}

const EVERYTHING = new Uint8Array(0)
/** Number of addresses per statement. */
const ADDRESSES_AT_ONCE = 1_000

/**
 * Adds opt-outs as part of a command.
 *
 * @param topicId null for all mail
 */
export async function rememberOptOut(
  tx: Tx,
  { accountId, email }: Owner,
  topicId: Id | null,
  at: number,
): Promise<void> {
  const key = { accountId, email, scope: topicId ?? EVERYTHING }
  const [known] = await tx.rows.find('optOuts', [key], ['saidAt'])
  if (!known) await tx.rows.insert('optOuts', [{ ...key, saidAt: at }])
}

/** Part of a command. Removes all opt-outs of an address that subscribes again. */
export async function forgetOptOut(tx: Tx, { accountId, email }: Owner, topicId: Id | null): Promise<void> {
  await tx.db
    .deleteFrom('optOuts')
    .where('accountId', '=', accountId)
    .where('email', '=', email)
    .where('scope', '=', topicId ?? EVERYTHING)
    .execute()
}

/** Deletes opt-outs of a deleted topic. Returns false when none is left. */
export async function forgetSomeOf(db: Db, topicId: Id, limit: number): Promise<boolean> {
  const emails = db
    .selectFrom('optOuts')
    .select('email')
    .where('scope', '=', topicId)
    .orderBy('email')
    .limit(limit)
  const { numDeletedRows } = await db
    .deleteFrom('optOuts')
    .where('scope', '=', topicId)
    .where('email', 'in', emails)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Returns opt-outs by lower-case address, only for addresses that have any. */
export async function optOutsOf(
  db: Db,
  accountId: Id,
  emails: readonly string[],
): Promise<ReadonlyMap<string, OptOut>> {
  const found = new Map<string, OptOut>()
  if (emails.length === 0 || !(await hasAny(db, accountId))) return found
  for (let at = 0; at < emails.length; at += ADDRESSES_AT_ONCE)
    for (const { email, scope } of await rowsOf(db, accountId, emails.slice(at, at + ADDRESSES_AT_ONCE))) {
      const known = found.get(email) ?? { isFromEverything: false, topicIds: [] }
      if (scope.length === 0) known.isFromEverything = true
      else known.topicIds.push(scope)
      found.set(email, known)
    }
  return found
}

/**
 * Lists what the owner of an address has opted out of, newest first.
 *
 * @returns `topicId` is null for all mail; `saidAt` is in ms since the epoch
 */
export async function listOptOuts(
  db: Db,
  { accountId, email }: Owner,
): Promise<{ topicId: Id | null; saidAt: number }[]> {
  const rows = await db
    .selectFrom('optOuts')
    .select(['scope', 'saidAt'])
    .where('accountId', '=', accountId)
    .where('email', '=', email)
    .orderBy('saidAt', 'desc')
    .execute()
  return rows.map(({ scope, saidAt }) => ({ topicId: scope.length === 0 ? null : scope, saidAt }))
}

/** Tells whether the opt-out covers the topic, or all mail. */
export function isOutOf({ isFromEverything, topicIds }: OptOut, topicId: Id): boolean {
  return isFromEverything || topicIds.some(id => sameId(id, topicId))
}

/** Avoids a lookup per batch of a large import, since most accounts have no opt-outs. */
async function hasAny(db: Db, accountId: Id): Promise<boolean> {
  const any = await db
    .selectFrom('optOuts')
    .select('saidAt')
    .where('accountId', '=', accountId)
    .limit(1)
    .execute()
  return any.length > 0
}

function rowsOf(
  db: Db,
  accountId: Id,
  emails: readonly string[],
): Promise<Pick<OptOutRow, 'email' | 'scope'>[]> {
  return db
    .selectFrom('optOuts')
    .select(['email', 'scope'])
    .where('accountId', '=', accountId)
    .where('email', 'in', emails)
    .execute()
}
