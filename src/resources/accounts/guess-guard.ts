/**
 * Slows down guessing at passwords and keys. Wrong guesses are counted by client network and account, by
 * client network over all accounts, and by account over all networks that are strange to it; each counter
 * makes its guesses wait when there are too many. Called by dashboard sign-in (`sessions.ts`) and SMTP AUTH,
 * each with a guard of its own.
 *
 * A client network is an IPv4 address or an IPv6 /56. Once more than four /56 of one /48 have guessed wrong
 * within an hour, the /48 counts as one network, too.
 */

import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { clientNetworkOf, siteNetworkOf } from '../../protocols/dns/netblock.ts'
import { createGuessCounter, createGuessMemory, type GuessCounter } from './guess-counter.ts'

/** Counter that delays a guess. */
export type GuessLimit = 'network_and_account' | 'network' | 'account' | 'session'

export type GuessVerdict =
  | { kind: 'right' }
  | { kind: 'wrong' }
  /** @param waitMs until the next guess is checked */
  | { kind: 'too-many'; waitMs: number; limit: GuessLimit }

export interface Guess {
  /** Address of the client as in `socket.remoteAddress`. */
  address: string
  /** Folded address of the user; undefined if the secret alone identifies the account. */
  account: string | undefined
  /**
   * Whether this account has signed in from this client network before. Guesses from other networks do not
   * delay it.
   */
  isKnownPlace: boolean
}

export interface GuessGuard {
  /**
   * Checks a guess, unless it has to wait. Concurrent guesses learn no more than sequential ones: a result is
   * withheld if another guess has used the last free one in the meantime. A right guess takes back the wrong
   * ones of this network for this account, from all counters.
   */
  hear(guess: Guess, isRight: () => Promise<boolean>): Promise<GuessVerdict>
  /** Checks a guess of a signed-in user. It is counted per session only. */
  hearInSession(session: string, isRight: () => Promise<boolean>): Promise<GuessVerdict>
}

/** Number of wrong guesses without a wait, by counter. */
const FREE_GUESSES = { networkAndAccount: 5, network: 20, account: 10 }
/**
 * Number of /56 networks with a wrong guess within the hour from which on their /48 counts as one network.
 */
const CROWDED_SITE_NETWORKS = 5
const SITE_PERIOD_MS = 60 * 60_000
const SITES_MAX = 10_000

/** Counter of a guess. */
interface Counted {
  counter: GuessCounter
  key: string
  limit: GuessLimit
  /** Whether the guess has to wait for this counter. */
  isHeeded: boolean
}

export function createGuessGuard(clock: Pick<Clock, 'monotonic'>): GuessGuard {
  const pairs = createGuessCounter(clock, FREE_GUESSES.networkAndAccount)
  const networks = createGuessCounter(clock, FREE_GUESSES.network)
  const accounts = createGuessCounter(clock, FREE_GUESSES.account)
  const sessions = createGuessCounter(clock, FREE_GUESSES.networkAndAccount)
  const sites = createSiteWatch(clock)

  /** The first counter is the one of this network and this account. */
  const countersOf = ({ address, account, isKnownPlace }: Guess): Counted[] => {
    const of = (network: string, isPairHeeded: boolean, isNetworkHeeded: boolean): Counted[] => [
      {
        counter: pairs,
        key: `${network} ${account ?? ''}`,
        limit: 'network_and_account',
        isHeeded: isPairHeeded,
      },
      { counter: networks, key: network, limit: 'network', isHeeded: isNetworkHeeded },
    ]
    const counters = of(clientNetworkOf(address), true, !isKnownPlace)
    const site = siteNetworkOf(address)
    if (site !== undefined) {
      const isHeeded = !isKnownPlace && sites.isCrowded(site)
      counters.push(...of(site, isHeeded, isHeeded))
    }
    if (account !== undefined && !isKnownPlace)
      counters.push({ counter: accounts, key: account, limit: 'account', isHeeded: true })
    return counters
  }
  const countersOfSession = (key: string): Counted[] => [
    { counter: sessions, key, limit: 'session', isHeeded: true },
  ]

  return {
    hear: (guess, isRight) =>
      check(isRight, {
        countersNow: () => countersOf(guess),
        onWrong: () => sites.addWrong(guess.address),
      }),
    hearInSession: (session, isRight) => check(isRight, { countersNow: () => countersOfSession(session) }),
  }
}

/** A right guess takes back the wrong guesses of the first counter from all counters. */
async function check(
  isRight: () => Promise<boolean>,
  { countersNow, onWrong }: { countersNow: () => Counted[]; onWrong?: () => void },
): Promise<GuessVerdict> {
  const before = longestWait(countersNow())
  if (before) return before
  const right = await isRight()
  const counters = countersNow()
  const after = longestWait(counters)
  if (after) return after
  if (right) {
    const own = counters[0]!
    const takenBack = own.counter.countOf(own.key)
    for (const { counter, key } of counters) counter.takeBack(key, takenBack)
    return { kind: 'right' }
  }
  for (const { counter, key } of counters) counter.addWrong(key)
  onWrong?.()
  return { kind: 'wrong' }
}

function longestWait(counters: Counted[]): Extract<GuessVerdict, { kind: 'too-many' }> | undefined {
  let longest: Extract<GuessVerdict, { kind: 'too-many' }> | undefined
  for (const { counter, key, limit, isHeeded } of counters) {
    const waitMs = isHeeded ? counter.waitMs(key) : 0
    if (waitMs > (longest?.waitMs ?? 0)) longest = { kind: 'too-many', waitMs, limit }
  }
  return longest
}

/** Finds /48 networks with recent wrong guesses from many of their /56 networks. */
function createSiteWatch(clock: Pick<Clock, 'monotonic'>) {
  /**
   * Networks (/48) with the latest wrong guesses, oldest first, with the monotonic time of the last one in
   * ms.
   */
  const memory = createGuessMemory<Map<string, number>>(SITES_MAX)
  const isCrowdedBy = (lastWrong: Map<string, number>) => {
    const [oldest = Number.NEGATIVE_INFINITY] = lastWrong.values()
    return lastWrong.size >= CROWDED_SITE_NETWORKS && clock.monotonic() - oldest < SITE_PERIOD_MS
  }
  return {
    isCrowded(site: string) {
      const lastWrong = memory.get(site)
      return lastWrong !== undefined && isCrowdedBy(lastWrong)
    },
    addWrong(address: string) {
      const site = siteNetworkOf(address)
      if (site === undefined) return
      const network = clientNetworkOf(address)
      const lastWrong = memory.get(site) ?? new BoundedMap<string, number>(CROWDED_SITE_NETWORKS)
      lastWrong.set(network, clock.monotonic())
      memory.set(site, lastWrong, isCrowdedBy(lastWrong))
    },
  }
}
