/** Idempotency keys: a repeated request gets the first one's answer, for a day, inside the accepting transaction. */
import { type Id, idKey, idText, parseWireId } from '../lib/ids.ts'
import { equalBytes } from '../lib/secret-keys.ts'
import type { Tx } from '../store/command.ts'
import type { Refusal } from './refusal.ts'
import type { IdempotencyToken, Sender } from './submission.ts'

export const KEY_RETENTION_MS = 86_400_000
export const LONGEST_KEY = 256

interface Request {
  sender: Sender
  now: number
  idempotency: IdempotencyToken | null
}

interface KnownKey {
  bodyHash: Uint8Array
  ids: Id[]
}

/** The keys of a group's requests that have been used before, or by an earlier request of the group. */
export interface KnownKeys {
  /** The former answer, or a refusal when the key came with another body; undefined for a fresh request. */
  answerFor(request: Request): { ids: Id[] } | Refusal | undefined
  add(request: Request, ids: Id[]): void
}

export async function lookUpKeys(tx: Tx, requests: readonly Request[]): Promise<KnownKeys> {
  const keyed = requests.filter(({ idempotency }) => idempotency !== null)
  const rows = await tx.rows.find('idempotencyKeys', keyed.map(rowKey), ['bodyHash', 'response', 'createdAt'])
  const known = new Map<string, KnownKey>()
  for (const [i, row] of rows.entries()) {
    if (!row || row.createdAt <= keyed[i]!.now - KEY_RETENTION_MS) continue
    const ids = (JSON.parse(row.response) as string[]).map(text => parseWireId('eml', text)!)
    known.set(textKey(keyed[i]!), { bodyHash: row.bodyHash, ids })
  }
  return {
    answerFor(request) {
      if (!request.idempotency) return undefined
      const former = known.get(textKey(request))
      if (!former) return undefined
      if (equalBytes(former.bodyHash, request.idempotency.bodyHash)) return { ids: former.ids }
      return {
        refused: 'idempotency_mismatch',
        message: 'This idempotency key has been used with another request body.',
      }
    },
    add(request, ids) {
      if (request.idempotency) known.set(textKey(request), { bodyHash: request.idempotency.bodyHash, ids })
    },
  }
}

/** Stores the answer under the request's key, in place of one that has expired. */
export async function rememberKey(tx: Tx, keys: KnownKeys, request: Request, ids: Id[]): Promise<void> {
  if (!request.idempotency) return
  keys.add(request, ids)
  const { bodyHash } = request.idempotency
  const response = JSON.stringify(ids.map(idText))
  await tx.db
    .insertInto('idempotencyKeys')
    .values({ ...rowKey(request), bodyHash, response, createdAt: request.now })
    .onConflict(conflict =>
      conflict
        .columns(['accountId', 'endpoint', 'key'])
        .doUpdateSet({ bodyHash, response, createdAt: request.now }),
    )
    .execute()
}

function rowKey({ sender, idempotency }: Request) {
  return { accountId: sender.accountId, endpoint: idempotency!.endpoint, key: idempotency!.key }
}

function textKey({ sender, idempotency }: Request): string {
  return `${idKey(sender.accountId)}${idempotency!.endpoint} ${idempotency!.key}`
}
