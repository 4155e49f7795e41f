/**
 * Sending domains of an account: create with new DKIM keys, read, verify, change and delete.
 *
 * In: calls of the domain routes. Out: domains as stored, or the reason of a refusal. Called by
 * `interfaces/api/domains`.
 */
import { randomBytes } from 'node:crypto'
import { toBase32 } from '../../lib/base32.ts'
import { type Id, type IdSource, idKey } from '../../lib/ids.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import type { DkimAlgorithm } from '../../protocols/dkim/keys.ts'
import type { DkimKeyRow } from '../../store/model/schema.ts'
import type { ListPage } from '../../store/reading/list-page.ts'
import { type BrandChanges, NO_BRAND } from './brands.ts'
import { type CheckerOptions, createChecker } from './checker.ts'
import { type DomainChanges, type DomainRefusal, domainRefusalOf } from './commands.ts'
import { type DomainWithKeys, findDomain, listDomains } from './domain-rows.ts'
import { EARLY_CHECKS_MS } from './status.ts'

export type GenerateKey = (algorithm: DkimAlgorithm) => Promise<{ privateKey: Uint8Array; publicKey: string }>

interface DomainOptions extends CheckerOptions {
  newId: IdSource
  secrets: SecretKeys
  generateKey: GenerateKey
  /** Maximum number of unverified domains per account; no limit if absent. */
  pendingMax?: number
}

/** Slots 1 and 2 alternate; slot 3 signs in addition. */
const SLOTS: readonly { slot: number; algorithm: DkimAlgorithm }[] = [
  { slot: 1, algorithm: 'rsa-sha256' },
  { slot: 2, algorithm: 'rsa-sha256' },
  { slot: 3, algorithm: 'ed25519-sha256' },
]

export type Domains = ReturnType<typeof createDomains>

export function createDomains(options: DomainOptions) {
  const { db, run, clock, newId, pendingMax } = options
  /** Limits creation to one at a time per account, so that refused requests do not generate keys. */
  const inTurn = createKeyedLock()
  return {
    create: (
      accountId: Id,
      name: string,
      region: string,
      settings: DomainChanges = {},
      { isClaim } = { isClaim: false },
    ): Promise<DomainWithKeys | DomainRefusal> =>
      inTurn(idKey(accountId), async () => {
        const refusal = await domainRefusalOf(db, { accountId, name, pendingMax, isClaim })
        if (refusal !== undefined) return refusal
        const now = clock.now()
        const domain = {
          id: newId(now),
          accountId,
          name,
          region,
          status: 'pending' as const,
          verificationToken: randomToken(),
          openTracking: 0 as const,
          clickTracking: 0 as const,
          sending: 1 as const,
          receiving: 1 as const,
          trackingSubdomain: null,
          trackingTerms: null,
          tls: 'opportunistic' as const,
          ...settings,
          createdAt: now,
          verifiedAt: null,
          lastCheckedAt: null,
          failingSince: null,
          checks: null,
          checkAt: now + EARLY_CHECKS_MS[0]!,
          claimedAt: null,
        }
        const keys = await Promise.all(
          SLOTS.map(slot => sealedKey(options, domain.id, { ...slot, token: randomToken() }, now)),
        )
        const result = await run('createDomain', { domain, keys, pendingMax, isClaim })
        return result === 'created' ? { ...domain, keys, brand: NO_BRAND } : result
      }),
    list: (accountId: Id, page: ListPage) => listDomains(db, accountId, page),
    find: (accountId: Id, id: Id) => findDomain(db, accountId, id),
    /**
     * Checks the DNS records now. Concurrent requests for one domain share a check. Resolves to undefined if
     * the account has no such domain.
     * @throws TooManyWaiting
     */
    verify: createChecker(options),
    /** Resolves to undefined if the account has no such domain. */
    change: (accountId: Id, id: Id, changes: DomainChanges, brand: BrandChanges = {}) =>
      run('changeDomain', { accountId, id, changes, brand, at: clock.now() }),
    delete: (accountId: Id, id: Id) => run('deleteDomain', { accountId, id, at: clock.now() }),
  }
}

/** Generates a key for a slot of a domain and seals its private half. */
export async function sealedKey(
  { newId, secrets, generateKey }: Pick<DomainOptions, 'newId' | 'secrets' | 'generateKey'>,
  domainId: Id,
  { slot, algorithm, token }: Pick<DkimKeyRow, 'slot' | 'algorithm' | 'token'>,
  now: number,
): Promise<DkimKeyRow> {
  const { privateKey, publicKey } = await generateKey(algorithm)
  return {
    id: newId(now),
    domainId,
    slot,
    token,
    algorithm,
    publicKey,
    privateKey: secrets.seal(privateKey, dkimContext(token)),
    createdAt: now,
    activeFrom: null,
    retiredAt: null,
    revokedAt: null,
  }
}

/** Binds a sealed private key to its selector. */
export function dkimContext(token: string): string {
  return `dkim ${token}`
}

/** Returns 32 characters of a DNS label, 160 bits. */
function randomToken(): string {
  return toBase32(randomBytes(20))
}
