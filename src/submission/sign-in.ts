/** Who submits over SMTP: an API key is the password; the user name is the service's, or the key's own id (RFC 4954). */

import type { Sender } from '../accept/submission.ts'
import type { ApiKeys } from '../accounts/api-keys.ts'
import { createGuessGuard, type Verdict } from '../accounts/guess-guard.ts'
import { hashToken } from '../accounts/tokens.ts'
import type { Clock } from '../lib/clock.ts'
import { type Id, idKey, parseWireId, sameId } from '../lib/ids.ts'

export type SignedIn = { sender: Sender } | 'wrong' | 'too-many'

export type SignIn = (from: string, userName: string, password: string) => Promise<SignedIn>

const USER_NAMES = new Set(['resend', 'posthorn'])
/** Addresses with keys that were right there. */
const REMEMBERED = 10_000

/**
 * Wrong passwords cost an address growing waits, in which it is not heard, and likewise a key that is named, from wherever
 * it is tried; programs whose key has been right before from where they are go on, so that one with an old key does not stop
 * the others.
 */
export function createSignIn(apiKeys: Pick<ApiKeys, 'find'>, clock: Clock): SignIn {
  const guard = createGuessGuard(clock)
  const known = new Set<string>()

  const senderOf = async (userName: string, password: string): Promise<Sender | undefined> => {
    const key = await apiKeys.find(password)
    if (!key) return undefined
    const named = parseWireId('key', userName)
    const isNamed = named !== undefined && sameId(named, key.id)
    if (!isNamed && !USER_NAMES.has(userName.toLowerCase())) return undefined
    return { accountId: key.accountId, apiKeyId: key.id, domain: key.domain }
  }

  return async (from, userName, password) => {
    const place = `${from} ${idKey(hashToken(password))}`
    let sender: Sender | undefined
    const isRight = async () => {
      sender = await senderOf(userName, password)
      return sender !== undefined
    }
    const hear = async () => (await guard.hear(from, isRight)).kind
    const named = parseWireId('key', userName)
    const hearNamed = async (id: Id) => {
      let kind: Verdict['kind'] = 'wrong'
      const { kind: ofName } = await guard.hear(`key ${idKey(id)}`, async () => {
        kind = await hear()
        return kind === 'right'
      })
      return ofName === 'wrong' ? kind : ofName
    }
    const isRegular = known.has(place) && (await isRight())
    const verdict = isRegular ? 'right' : await (named ? hearNamed(named) : hear())
    if (verdict !== 'right' || !sender) return verdict === 'too-many' ? 'too-many' : 'wrong'
    known.delete(place)
    known.add(place)
    if (known.size > REMEMBERED) known.delete(known.values().next().value!)
    return { sender }
  }
}
