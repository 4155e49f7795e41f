/** Rows of the suppression list, with a counter per reason. */
import type { Id } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import { batchCommand, type Tx } from '../../store/model/command.ts'
import type { SuppressionReason, SuppressionRow } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'

interface NewSuppression {
  accountId: Id
  /** Folded address. */
  email: string
  reason: SuppressionReason
  /** The email that caused the entry; null for a manual entry. */
  sourceId: Id | null
  at: number
  /** Time of an entry that was made elsewhere, before `at`. */
  createdAt?: number | undefined
}

/** Identifies an entry by its id or by its folded address. */
export type SuppressionRef = { id: Id } | { email: string }

export const SUPPRESSION_REASONS = ['manual', 'bounce', 'complaint'] as const
const COLUMNS = ['accountId', 'email', 'id', 'reason', 'sourceId', 'createdAt'] as const

export async function findSuppression(
  find: Find,
  accountId: Id,
  ref: SuppressionRef,
): Promise<SuppressionRow | undefined> {
  const [row] =
    'id' in ref
      ? await find('suppressions', [{ accountId, id: ref.id }], COLUMNS)
      : await find('suppressions', [{ accountId, email: ref.email }], COLUMNS)
  return row
}

/** @returns the entries of the addresses in their order; undefined for an address without one */
export function findSuppressions(
  find: Find,
  accountId: Id,
  addresses: readonly string[],
): Promise<(SuppressionRow | undefined)[]> {
  const keys = addresses.map(address => ({ accountId, email: foldAddress(address) }))
  return find('suppressions', keys, COLUMNS)
}

/** @param reason null for all reasons */
export async function countSuppressions(
  find: Find,
  accountId: Id,
  reason: SuppressionReason | null,
): Promise<number> {
  const kinds = (reason === null ? SUPPRESSION_REASONS : [reason]).map(counterOf)
  const rows = await find(
    'counters',
    kinds.map(kind => ({ accountId, kind, period: '' })),
    ['count'],
  )
  return rows.reduce((sum, row) => sum + (row?.count ?? 0), 0)
}

/**
 * Is called in a transaction. An address that has an entry keeps it.
 * @returns the entries in the order of `wanted`
 */
export async function addSuppressions(
  tx: Tx,
  wanted: readonly NewSuppression[],
): Promise<{ row: SuppressionRow; isNew: boolean }[]> {
  const added: { row: SuppressionRow; isNew: boolean }[] = []
  for (const { at, createdAt = at, ...rest } of wanted) {
    const former = await findSuppression(tx.rows.find, rest.accountId, { email: rest.email })
    const row = former ?? { ...rest, id: tx.newId(at), createdAt }
    if (!former) {
      await tx.rows.insert('suppressions', [row])
      tx.count(row.accountId, counterOf(row.reason), '', 1)
    }
    added.push({ row, isNew: !former })
  }
  return added
}

export const suppressionCommands = {
  suppress: batchCommand<readonly NewSuppression[], { row: SuppressionRow; isNew: boolean }[]>(
    async (tx, inputs) => {
      const outputs = []
      for (const wanted of inputs) outputs.push(await addSuppressions(tx, wanted))
      return outputs
    },
  ),

  /** Removes entries. The result is undefined for a reference without an entry. */
  unsuppress: batchCommand<
    { accountId: Id; refs: readonly SuppressionRef[] },
    (SuppressionRow | undefined)[]
  >(async (tx, inputs) => {
    const outputs = []
    for (const { accountId, refs } of inputs) outputs.push(await remove(tx, accountId, refs))
    return outputs
  }),
}

async function remove(tx: Tx, accountId: Id, refs: readonly SuppressionRef[]) {
  const removed: (SuppressionRow | undefined)[] = []
  for (const ref of refs) {
    const row = await findSuppression(tx.rows.find, accountId, ref)
    if (row) {
      await tx.db
        .deleteFrom('suppressions')
        .where('accountId', '=', accountId)
        .where('email', '=', row.email)
        .execute()
      tx.count(accountId, counterOf(row.reason), '', -1)
    }
    removed.push(row)
  }
  return removed
}

function counterOf(reason: SuppressionReason): string {
  return `suppressions.${reason}`
}
