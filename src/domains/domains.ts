/** Sending domains of an account: registered with fresh keys, shown with their records, verified by look-ups. */
import { randomBytes } from 'node:crypto'
import type { DkimAlgorithm } from '../dkim/keys.ts'
import { toBase32 } from '../lib/base32.ts'
import type { Clock } from '../lib/clock.ts'
import type { Id, IdSource } from '../lib/ids.ts'
import type { SecretKeys } from '../lib/secret-keys.ts'
import type { Run } from '../store/command.ts'
import { type DomainWithKeys, findDomain, listDomains } from '../store/domains.ts'
import type { Db, DkimKeyRow } from '../store/schema.ts'
import type { CreateDomainResult, DomainChanges, domainCommands } from './commands.ts'
import { dnsRecordsOf } from './dns-records.ts'
import { publishedKeyOf } from './key-text.ts'
import { checkDomain, type DomainChecks, type NamedResolver } from './verify.ts'

export interface Domains {
  create(
    accountId: Id,
    name: string,
    region: string,
  ): Promise<DomainWithKeys | Exclude<CreateDomainResult, 'created'>>
  list(
    accountId: Id,
    page: { limit: number; offset: number },
  ): Promise<{ total: number; rows: DomainWithKeys[] }>
  find(accountId: Id, id: Id): Promise<DomainWithKeys | undefined>
  /** Looks the records up now. Undefined when the account has no such domain. */
  verify(accountId: Id, id: Id): Promise<{ domain: DomainWithKeys; checks: DomainChecks } | undefined>
  /** Undefined when the account has no such domain. */
  change(accountId: Id, id: Id, changes: DomainChanges): Promise<DomainWithKeys | undefined>
  delete(accountId: Id, id: Id): Promise<boolean>
}

export type GenerateKey = (algorithm: DkimAlgorithm) => Promise<{ privateKey: Uint8Array; publicKey: string }>

interface DomainOptions {
  db: Db
  run: Run<typeof domainCommands>
  clock: Clock
  newId: IdSource
  secrets: SecretKeys
  generateKey: GenerateKey
  mailHost: string
  resolvers: readonly NamedResolver[]
}

/** Slots 1 and 2 alternate, 3 signs beside them. */
const SLOTS: readonly { slot: number; algorithm: DkimAlgorithm }[] = [
  { slot: 1, algorithm: 'rsa-sha256' },
  { slot: 2, algorithm: 'rsa-sha256' },
  { slot: 3, algorithm: 'ed25519-sha256' },
]
/** Top-level domains that nobody can delegate (RFC 2606 §2). */
const RESERVED = /\.(?:test|example|invalid|localhost)$/

export function isLaboratory(mailHost: string): boolean {
  return RESERVED.test(mailHost)
}

export function createDomains(options: DomainOptions): Domains {
  const { db, run, clock, newId, mailHost, resolvers } = options
  return {
    async create(accountId, name, region) {
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
        receiving: 1 as const,
        tls: 'opportunistic' as const,
        createdAt: now,
        verifiedAt: null,
        lastCheckedAt: null,
        failingSince: null,
        checks: null,
      }
      const keys = await Promise.all(
        SLOTS.map(slot => sealedKey(options, domain.id, { ...slot, token: randomToken() }, now)),
      )
      const result = await run('createDomain', { domain, keys })
      return result === 'created' ? { ...domain, keys } : result
    },
    list: (accountId, page) => listDomains(db, accountId, page),
    find: (accountId, id) => findDomain(db, accountId, id),
    async verify(accountId, id) {
      const domain = await findDomain(db, accountId, id)
      if (!domain) return undefined
      const records = dnsRecordsOf(domain, mailHost)
      const selectors = domain.keys.map(key => ({
        record: records.find(({ record }) => record === `DKIM ${key.slot}`)!,
        publicKey: publishedKeyOf(key),
      }))
      const laboratory = isLaboratory(mailHost)
      const checks = await checkDomain({ domain: domain.name, records, selectors, resolvers, laboratory })
      const visibleSlots = domain.keys
        .filter((_, i) => checks.dkim.selectors[i]!.status === 'verified')
        .map(({ slot }) => slot)
      const checked = await run('recordDomainCheck', {
        accountId,
        id,
        at: clock.now(),
        good: checks.ownership.status === 'verified' && isActiveVisible(domain, visibleSlots),
        visibleSlots,
        checks: JSON.stringify(checks),
      })
      return checked && { domain: checked, checks }
    },
    change: (accountId, id, changes) => run('changeDomain', { accountId, id, changes }),
    delete: (accountId, id) => run('deleteDomain', { accountId, id, at: clock.now() }),
  }
}

/** The RSA key that signs, or that will once the domain is verified. */
function isActiveVisible({ keys }: DomainWithKeys, visibleSlots: readonly number[]): boolean {
  const rsa = keys.filter(key => key.algorithm === 'rsa-sha256' && key.retiredAt === null)
  const active = rsa.find(key => key.activeFrom !== null) ?? rsa[0]
  return active !== undefined && visibleSlots.includes(active.slot)
}

/** A key that nobody has used yet, at its place among those of a domain. */
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

/** 32 characters that are good in a DNS label, 160 bits. */
function randomToken(): string {
  return toBase32(randomBytes(20))
}
