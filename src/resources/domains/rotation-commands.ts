/**
 * The steps of key rotation in the store. Each is one transaction that looks again whether it is still due,
 * so that a step which was killed, or is taken by two processes, has been taken once or not at all.
 */
import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/command.ts'
import type { DkimKeyRow } from '../../store/schema.ts'
import { DKIM_KEYS_CHANGED } from './domain-rows.ts'
import { keyState } from './key-life.ts'

/** Topic of announcements: the id of a domain whose keys are to be rotated now. */
export const ROTATION_WANTED = 'key-rotation'

export const rotationCommands = {
  /**
   * When it was asked for first, this time or before; undefined when the domain is unknown or has no key that
   * signs.
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

  /** The old key moves among the former ones: what it has signed is still shown as it was sent. */
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
    tx.announce(DKIM_KEYS_CHANGED, domainId)
    return true
  }),

  /** Private halves of former keys whose mail is no longer shown. */
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

function sameId(one: Id, other: Id): boolean {
  return Buffer.compare(one, other) === 0
}
