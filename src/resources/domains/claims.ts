/**
 * Claims to a name that another account has verified. The claimant publishes a new TXT record; once it is
 * found, the name moves to the claimant's domain and the other account's domain loses its verification
 * ([why](../../docs/decisions/0117-a-claimed-name-moves-before-it-is-verified.md)).
 *
 * In: calls of the claim routes. Out: claims as stored, or the reason of a refusal.
 */
import { randomBytes } from 'node:crypto'
import { toBase32 } from '../../lib/base32.ts'
import type { Clock } from '../../lib/clock.ts'
import { FairSemaphore } from '../../lib/fair-semaphore.ts'
import { type Id, type IdSource, idKey } from '../../lib/ids.ts'
import { findZoneServers } from '../../protocols/dns/name-servers.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db, DomainClaimRow } from '../../store/model/schema.ts'
import type { CheckSessions } from './check-session.ts'
import { type Observation, observe, standingOf, unknown } from './checks/observation.ts'
import { plain, textsOf } from './checks/values.ts'
import { type ClaimRefusal, type claimCommands, findClaim } from './claim-commands.ts'
import type { DomainChanges, DomainRefusal } from './commands.ts'
import type { DomainWithKeys } from './domain-rows.ts'
import type { Domains } from './domains.ts'

/** A claim and the name that it is about. */
export interface DomainClaim extends DomainClaimRow {
  name: string
  region: string
}

interface WantedClaim {
  name: string
  /** By default, that of the account's domain with the name, or the default region. */
  region: string | undefined
  settings: DomainChanges
}

export interface DomainClaims {
  /**
   * Claims the name, and registers it as a domain of the account if it is not. An open claim is returned as
   * it is.
   */
  create(accountId: Id, wanted: WantedClaim): Promise<DomainClaim | ClaimRefusal | DomainRefusal>
  /** Finds the newest claim of a domain. Undefined when the account has no such domain or claim. */
  find(accountId: Id, domainId: Id): Promise<DomainClaim | undefined>
  /**
   * Looks for the TXT record and moves the name if it is found. Undefined when the account has no such domain
   * or claim.
   * @throws TooManyWaiting
   */
  verify(accountId: Id, domainId: Id): Promise<DomainClaim | undefined>
}

interface DomainClaimsOptions {
  db: Db
  run: Run<typeof claimCommands>
  clock: Clock
  newId: IdSource
  inquiries: CheckSessions
  domains: Pick<Domains, 'create' | 'find' | 'verify' | 'change'>
  defaultRegion: string
  /** Called when a name has moved from one account to another. */
  onMoved(claim: DomainClaim): void
}

const DAY_MS = 86_400_000
/** A claim that has not been proven by then has expired. */
const CLAIM_MS_MAX = 7 * DAY_MS
const TOKEN_BYTES = 20
/** Limits of concurrent look-ups, in total and per account, and of waiting ones. */
const CHECKS_MAX = 8
const CHECKS_OF_ACCOUNT_MAX = 2
const WAITING_MAX = { maxPerOwner: 10, max: 100 }

/** Returns the record that proves a claim. */
export function claimRecordOf({ name, token }: Pick<DomainClaim, 'name' | 'token'>) {
  return { host: `_svc-claim.${name}`, value: `svc-claim=${token}` }
}

export function createDomainClaims(options: DomainClaimsOptions): DomainClaims {
  const { db, run, clock, newId, domains, onMoved } = options
  const slots = new FairSemaphore(CHECKS_MAX, CHECKS_OF_ACCOUNT_MAX, WAITING_MAX)

  const withName = (claim: DomainClaimRow, { name, region }: DomainWithKeys) => ({ ...claim, name, region })
  const find: DomainClaims['find'] = async (accountId, domainId) => {
    const domain = await domains.find(accountId, domainId)
    const claim = domain && (await findClaim(db, domainId))
    return claim && withName(claim, domain)
  }
  const lookUp = (claim: DomainClaim) => slots.run(idKey(claim.accountId), () => findRecord(options, claim))

  return {
    find,
    async create(accountId, wanted) {
      const now = clock.now()
      const own = await run('checkClaimable', { accountId, name: wanted.name })
      if (typeof own === 'string') return own
      const domainId = await registered(options, accountId, own, wanted)
      if (typeof domainId === 'string') return domainId
      const claim = await run('claimDomain', {
        ...{ id: newId(now), accountId, domainId, status: 'pending', failure: null, provenAt: null },
        token: toBase32(randomBytes(TOKEN_BYTES)),
        createdAt: now,
        expiresAt: now + CLAIM_MS_MAX,
      })
      if (typeof claim === 'string') return claim
      return withName(claim, (await domains.find(accountId, domainId))!)
    },
    async verify(accountId, domainId) {
      const claim = await find(accountId, domainId)
      if (!claim || statusAt(claim, clock.now()) === 'expired') return claim
      if (claim.status !== 'pending' && claim.status !== 'blocked') return claim
      const isPublished = await lookUp(claim)
      const moved = await run('advanceClaim', { id: claim.id, domainId, isPublished, at: clock.now() })
      if (moved) {
        onMoved(claim)
        // its own records may be there already
        await domains.verify(accountId, domainId)
      }
      return find(accountId, domainId)
    },
  }
}

/**
 * Registers the name, although another account has verified it, or changes the settings of the account's
 * domain.
 * @returns the id of the domain, or why it cannot be registered
 */
async function registered(
  { domains, defaultRegion }: DomainClaimsOptions,
  accountId: Id,
  own: { id: Id; region: string } | undefined,
  { name, region, settings }: WantedClaim,
): Promise<Id | ClaimRefusal | DomainRefusal> {
  if (own && region !== undefined && region !== own.region) return 'other-region'
  if (own) {
    await domains.change(accountId, own.id, settings)
    return own.id
  }
  const options = { isClaim: true }
  const domain = await domains.create(accountId, name, region ?? defaultRegion, settings, options)
  return typeof domain === 'string' ? domain : domain.id
}

/** Returns the status of a claim as clients see it. */
export function statusAt(
  { status, expiresAt }: Pick<DomainClaimRow, 'status' | 'expiresAt'>,
  now: number,
): DomainClaimRow['status'] | 'expired' {
  const isOpen = status === 'pending' || status === 'blocked'
  return isOpen && now >= expiresAt ? 'expired' : status
}

/** Tells whether a resolver finds the record. */
async function findRecord({ inquiries }: DomainClaimsOptions, claim: DomainClaim): Promise<boolean> {
  const { host, value } = claimRecordOf(claim)
  const inquiry = inquiries.open()
  try {
    const { observers } = await findZoneServers(claim.name, inquiry)
    const looks = await observe(
      async (witness): Promise<Observation> => {
        const answer = await witness.ask(host, 'TXT')
        if (answer.kind === 'unknown') return unknown(answer.reason)
        const found = textsOf(answer.records).map(plain)
        const verdict = found.includes(value) ? 'right' : found.length > 0 ? 'wrong' : 'absent'
        return { verdict, found, problems: [] }
      },
      { resolvers: inquiry.resolvers, authorities: observers },
    )
    return standingOf(looks) === 'right'
  } finally {
    inquiry.close()
  }
}
