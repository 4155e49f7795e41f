/**
 * Idempotency keys: a repeated request gets the answer to the first for 24 hours. Keys are read and stored in
 * the accepting transaction.
 */
import { type Id, idKey, idText, parseWireId } from '../../lib/ids.ts'
import { equalBytes } from '../../lib/secret-keys.ts'
import type { Tx } from '../../store/model/command.ts'
import type { Find } from '../../store/reading/read.ts'
import type { Refusal } from './refusal.ts'
import type { Accepted, IdempotencyToken, LeftOut, Sender } from './submission.ts'

export const KEY_RETENTION_MS = 86_400_000
export const KEY_CHARACTERS_MAX = 256

interface Request {
  sender: Pick<Sender, 'accountId'>
  now: number
  idempotency: IdempotencyToken | null
}

interface KnownKey {
  bodyHash: Uint8Array
  accepted: Accepted
}

/** Answer in the form in which it is stored. */
interface StoredAnswer {
  ids: string[]
  leftOut?: LeftOut[]
}

/** Keys that requests of this group have used before, including earlier requests of the same group. */
export interface KnownKeys {
  /**
   * @returns the former answer, a refusal if the key was used with another body, or undefined for a new
   * request
   */
  answerFor(request: Request): Accepted | Refusal | undefined
  add(request: Request, accepted: Accepted): void
}

export async function lookUpKeys(find: Find, requests: readonly Request[]): Promise<KnownKeys> {
  const keyed = requests.filter(({ idempotency }) => idempotency !== null)
  const rows = await find('idempotencyKeys', keyed.map(rowKey), ['bodyHash', 'response', 'createdAt'])
  const known = new Map<string, KnownKey>()
  for (const [i, row] of rows.entries()) {
    if (!row || row.createdAt <= keyed[i]!.now - KEY_RETENTION_MS) continue
    known.set(idempotencyKeyText(keyed[i]!), { bodyHash: row.bodyHash, accepted: readAnswer(row.response) })
  }
  return {
    answerFor(request) {
      const former = request.idempotency ? known.get(idempotencyKeyText(request)) : undefined
      return former && idempotentAnswer(request.idempotency!.bodyHash, former)
    },
    add(request, accepted) {
      if (request.idempotency)
        known.set(idempotencyKeyText(request), { bodyHash: request.idempotency.bodyHash, accepted })
    },
  }
}

/** @returns the former answer if the body is the same, otherwise a refusal */
export function idempotentAnswer(bodyHash: Uint8Array, former: KnownKey): Accepted | Refusal {
  if (equalBytes(former.bodyHash, bodyHash)) return former.accepted
  return {
    refused: 'idempotency_mismatch',
    message: 'This idempotency key was already used with a different request body.',
  }
}

/** Stores the answer under the key of the request and replaces an expired one. */
export async function rememberKey(
  tx: Tx,
  keys: KnownKeys,
  request: Request,
  accepted: Accepted,
): Promise<void> {
  if (!request.idempotency) return
  keys.add(request, accepted)
  const { bodyHash } = request.idempotency
  const response = writeAnswer(accepted)
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

/** @returns a text that identifies the key among all accounts and endpoints */
export function idempotencyKeyText({ sender, idempotency }: Pick<Request, 'sender' | 'idempotency'>): string {
  return `${idKey(sender.accountId)}${idempotency!.endpoint} ${idempotency!.key}`
}

function rowKey({ sender, idempotency }: Request) {
  return { accountId: sender.accountId, endpoint: idempotency!.endpoint, key: idempotency!.key }
}

function writeAnswer({ ids, leftOut }: Accepted): string {
  const answer: StoredAnswer = { ids: ids.map(idText), ...(leftOut.length > 0 && { leftOut }) }
  return JSON.stringify(answer)
}

function readAnswer(response: string): Accepted {
  const { ids, leftOut = [] } = JSON.parse(response) as StoredAnswer
  return { ids: ids.map((text): Id => parseWireId('eml', text)!), leftOut }
}
