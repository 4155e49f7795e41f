/**
 * Checks SMTP logins (RFC 4954): the password is an API key, or an access token with the scope `emails:send`.
 * The user name is `resend`, `mailhorn` or the id of the key or token.
 */

import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Id, idKey, parseWireId, sameId, wireId } from '../../lib/ids.ts'
import type { Sender } from '../../pipeline/accept/submission.ts'
import { clientNetworkOf } from '../../protocols/dns/netblock.ts'
import { type AccessTokens, obstacleTo } from '../../resources/accounts/access-tokens.ts'
import type { ApiKeys } from '../../resources/accounts/api-keys.ts'
import { createGuessGuard, type GuessVerdict } from '../../resources/accounts/guess-guard.ts'
import { includesScope } from '../../resources/accounts/scopes.ts'
import { reportVerdict, type SignInReport } from '../../resources/accounts/sign-in-report.ts'
import { hashToken } from '../../resources/accounts/tokens.ts'

export interface SignedIn {
  sender: Sender
  /** Id of the API key or access token. */
  credential: string
}

type SubmissionIdentity = SignedIn | 'wrong' | 'too-many'

export type SubmissionSignIn = (
  from: string,
  userName: string,
  password: string,
) => Promise<SubmissionIdentity>

const USER_NAMES = new Set(['resend', 'mailhorn'])
/** Pairs of a network and a key that was right there; the least recently used pair is evicted first. */
const KNOWN_PLACES_MAX = 10_000

interface SignInOptions {
  apiKeys: Pick<ApiKeys, 'find'>
  accessTokens: Pick<AccessTokens, 'isMeant' | 'find' | 'noteUse'>
  clock: Clock
  report: SignInReport
}

/**
 * Wrong passwords are counted by client network and by the id in the user name (`guess-guard.ts`). A key
 * that was right from a network before is accepted from there in spite of wrong guesses, so that one program
 * with an old key does not lock out other programs of the same network.
 */
export function createSignIn({ apiKeys, accessTokens, clock, report }: SignInOptions): SubmissionSignIn {
  const guard = createGuessGuard(clock)
  const known = new BoundedMap<string, true>(KNOWN_PLACES_MAX)

  /** Finds the key or token, if it may send from the address now. */
  const programOf = async (password: string, address: string) => {
    if (!accessTokens.isMeant(password)) return apiKeys.find(password)
    const token = await accessTokens.find(password)
    if (!token || obstacleTo(token, { address, now: clock.now() })) return undefined
    return includesScope(token.scopes, 'emails:send') ? { ...token, domain: null } : undefined
  }
  const signedInBy = async (
    address: string,
    userName: string,
    password: string,
  ): Promise<SignedIn | undefined> => {
    const program = await programOf(password, address)
    if (!program) return undefined
    const named = namedId(userName)
    const isNamed = named !== undefined && sameId(named, program.id)
    if (!isNamed && !USER_NAMES.has(userName.toLowerCase())) return undefined
    const isToken = accessTokens.isMeant(password)
    if (isToken) accessTokens.noteUse(program.id)
    return {
      sender: { accountId: program.accountId, apiKeyId: program.id, domain: program.domain },
      credential: wireId(isToken ? 'tok' : 'key', program.id),
    }
  }

  return async (address, userName, password) => {
    const place = `${clientNetworkOf(address)} ${idKey(hashToken(password))}`
    const named = namedId(userName)
    const guess = { address, account: named && idKey(named), isKnownPlace: false }
    let signedIn: SignedIn | undefined
    const isRight = async () => {
      signedIn = await signedInBy(address, userName, password)
      return signedIn !== undefined
    }
    const isRegular = known.has(place) && (await isRight())
    const verdict: GuessVerdict = isRegular ? { kind: 'right' } : await guard.hear(guess, isRight)
    reportVerdict(report, verdict, { address, user: null })
    if (verdict.kind !== 'right' || !signedIn) return verdict.kind === 'too-many' ? 'too-many' : 'wrong'
    known.set(place, true)
    return signedIn
  }
}

/** Returns the id of a key or token that a user name consists of. */
function namedId(userName: string): Id | undefined {
  return parseWireId('key', userName) ?? parseWireId('tok', userName)
}
