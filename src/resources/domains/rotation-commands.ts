/**
 * Commands of DKIM key rotation. Each command is one transaction that verifies that its step is still due, so
 * that a step that is interrupted, or attempted by two processes, happens at most once.
 */
import { type Id, sameId } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { DkimKeyRow } from '../../store/model/schema.ts'
import { increaseZoneSerial } from '../../store/reading/settings.ts'
import { DKIM_KEYS_CHANGED } from './domain-rows.ts'
import { keyState } from './key-life.ts'

/** Topic of announcements with the id of a domain whose rotation was requested. */
export const ROTATION_WANTED = 'key-rotation'

export const rotationCommands = {
  /**
   * Returns the time of the first request that is pending; undefined if the domain does not exist or has no
   * active key.
   */
  wantRotation: command<{ domainId: Id; at: number }, number | undefined>(async (tx, { domainId, at }) => {
    const keys = await keysOf(tx, domainId)
    if (!keys.some(key => keyState(key) === 'signing')) return undefined
    await tx.db
      .insertInto('keyRotations')
      .values({ domainId, wantedAt: at })
      .onConflict(conflict => conflict.column('domainId').doNothing())
      .execute()
    tx.announce(ROTATION_WANTED, domainId)
    const { wantedAt } = await tx.db
      .selectFrom('keyRotations')
      .select('wantedAt')
      .where('domainId', '=', domainId)
      .executeTakeFirstOrThrow()
    return wantedAt
  }),

  switchKeys: command<{ domainId: Id; from: Id; to: Id; at: number }, boolean>(
    async (tx, { domainId, from, to, at }) => {
      const keys = await keysOf(tx, domainId)
      if (stateIn(keys, from) !== 'signing' || stateIn(keys, to) !== 'published') return false
      const single = keys.find(key => key.algorithm === 'ed25519-sha256' && keyState(key) === 'signing')
      await tx.db.updateTable('dkimKeys').set({ activeFrom: at }).where('id', '=', to).execute()
      await tx.db
        .updateTable('dkimKeys')
        .set({ retiredAt: at })
        .where('id', 'in', single ? [from, single.id] : [from])
        .execute()
      await tx.db.deleteFrom('keyRotations').where('domainId', '=', domainId).execute()
      tx.announce(DKIM_KEYS_CHANGED, domainId)
      return true
    },
  ),

  beginKey: command<{ domainId: Id; key: Id; at: number }, boolean>(async (tx, { domainId, key, at }) =>
    changeFrom(tx, { domainId, key, state: 'published' }, { activeFrom: at }),
  ),

  revokeKey: command<{ domainId: Id; key: Id; at: number }, boolean>(async (tx, { domainId, key, at }) =>
    changeFrom(tx, { domainId, key, state: 'retired' }, { revokedAt: at }),
  ),

  /** Replaces a key. The former key is kept, because mail that it signed can still be shown as sent. */
  replaceKey: command<{ old: Id; key: DkimKeyRow }, boolean>(async (tx, { old, key }) => {
    const keys = await keysOf(tx, key.domainId)
    const former = keys.find(({ id }) => sameId(id, old))
    if (!former || keyState(former) !== 'revoked') return false
    const { id, domainId, token, algorithm, publicKey, retiredAt, privateKey } = former
    await tx.db
      .insertInto('formerDkimKeys')
      .values({ id, domainId, token, algorithm, publicKey, retiredAt: retiredAt!, privateKey })
      .execute()
    await tx.db.deleteFrom('dkimKeys').where('id', '=', id).execute()
    await tx.db.insertInto('dkimKeys').values(key).execute()
    await increaseZoneSerial(tx)
    tx.announce(DKIM_KEYS_CHANGED, domainId)
    return true
  }),

  /** Deletes the private halves of former keys whose mail is no longer shown. */
  destroyKeys: command<{ retiredBefore: number }, void>(async (tx, { retiredBefore }) => {
    await tx.db
      .updateTable('formerDkimKeys')
      .set({ privateKey: null })
      .where('retiredAt', '<', retiredBefore)
      .where('privateKey', 'is not', null)
      .execute()
  }),
}

type State = ReturnType<typeof keyState>

async function changeFrom(
  tx: Tx,
  { domainId, key, state }: { domainId: Id; key: Id; state: State },
  change: Partial<Pick<DkimKeyRow, 'activeFrom' | 'revokedAt'>>,
): Promise<boolean> {
  if (stateIn(await keysOf(tx, domainId), key) !== state) return false
  await tx.db.updateTable('dkimKeys').set(change).where('id', '=', key).execute()
  if (change.revokedAt !== undefined) await increaseZoneSerial(tx)
  tx.announce(DKIM_KEYS_CHANGED, domainId)
  return true
}

function keysOf(tx: Tx, domainId: Id): Promise<DkimKeyRow[]> {
  return tx.db.selectFrom('dkimKeys').selectAll().where('domainId', '=', domainId).execute()
}

function stateIn(keys: readonly DkimKeyRow[], id: Id): State | undefined {
  const key = keys.find(candidate => sameId(candidate.id, id))
  return key && keyState(key)
}
