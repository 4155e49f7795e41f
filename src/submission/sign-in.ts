/** Who submits over SMTP: an API key is the password; the user name is the service's, or the key's own id (RFC 4954). */

import type { Sender } from '../accept/submission.ts'
import type { ApiKeys } from '../accounts/api-keys.ts'
import { createGuessGuard } from '../accounts/guess-guard.ts'
import { hashToken } from '../accounts/tokens.ts'
import type { Clock } from '../lib/clock.ts'
import { idKey, parseWireId, sameId } from '../lib/ids.ts'

export type SignedIn = { sender: Sender } | 'wrong' | 'too-many'

export type SignIn = (from: string, userName: string, password: string) => Promise<SignedIn>

const USER_NAMES = new Set(['resend', 'posthorn'])
/** Addresses with keys that were right there. */
const REMEMBERED = 10_000

/**
 * Wrong passwords cost an address growing waits, in which it is not heard; programs there whose key has been right before
 * go on, so that one with an old key does not stop the others.
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
    const isRegular = known.has(place) && (await isRight())
    const verdict = isRegular ? 'right' : (await guard.hear(from, isRight)).kind
    if (verdict !== 'right' || !sender) return verdict === 'too-many' ? 'too-many' : 'wrong'
    known.delete(place)
    known.add(place)
    if (known.size > REMEMBERED) known.delete(known.values().next().value!)
    return { sender }
  }
}
