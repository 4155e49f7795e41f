/**
 * Rows of ACME certificates: the certificate in use, the order in progress, and the answers to pending
 * challenges.
 */
import { command, type Tx } from '../../store/model/command.ts'
import type {
  AcmeAccountRow,
  AcmeChallengeRow,
  CertificateRow,
} from '../../store/model/schema/certificates.ts'
import type { Db } from '../../store/model/schema.ts'
import { increaseZoneSerial } from '../../store/reading/settings.ts'

/** Topic of announcements with the host whose certificate has changed. */
export const CERTIFICATE_CHANGED = 'certificate'
/** Topic of announcements with the host whose certificate is to be ordered at once. */
export const CERTIFICATE_DUE = 'certificate-due'

type CertificateClaim = Pick<CertificateRow, 'host' | 'directoryUrl' | 'names'> & {
  owner: string
  now: number
  /** End of the lease, in ms since the epoch. */
  until: number
  /** Whether no other process can be at work, so that existing leases are void. */
  isAlone: boolean
}

/** Lease of a process on a host. */
type Held = { host: string; owner: string }

export function findCertificate(db: Db, host: string): Promise<CertificateRow | undefined> {
  return db.selectFrom('certificates').selectAll().where('host', '=', host).executeTakeFirst()
}

const STATE_COLUMNS = [
  'host',
  'names',
  'startsAt',
  'endsAt',
  'nextAt',
  'fault',
  'failedAt',
  'leaseUntil',
] as const

/** A certificate without its keys, and the state of its next order. */
export type CertificateState = Pick<CertificateRow, (typeof STATE_COLUMNS)[number]>

export function listCertificateStates(db: Db): Promise<CertificateState[]> {
  return db.selectFrom('certificates').select(STATE_COLUMNS).orderBy('host').execute()
}

/** Lists the hosts with an issued certificate. */
export async function listCertificates(db: Db): Promise<{ host: string; chain: string; key: Uint8Array }[]> {
  const rows = await db
    .selectFrom('certificates')
    .select(['host', 'chain', 'key'])
    .where('chain', 'is not', null)
    .execute()
  return rows.map(({ host, chain, key }) => ({ host, chain: chain!, key: key! }))
}

export function findAcmeAccount(db: Db, directoryUrl: string): Promise<AcmeAccountRow | undefined> {
  return db.selectFrom('acmeAccounts').selectAll().where('directoryUrl', '=', directoryUrl).executeTakeFirst()
}

/** Finds the content of an `http-01` challenge by its token. */
export async function findHttpAnswer(db: Db, token: string, now: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('acmeChallenges')
    .select('answer')
    .where('token', '=', token)
    .where('type', '=', 'http-01')
    .where('expiresAt', '>', now)
    .executeTakeFirst()
  return row?.answer
}

/** Lists the TXT records of `dns-01` challenges at `_acme-challenge.<name>`. */
export async function listDnsAnswers(db: Db, name: string, now: number): Promise<string[]> {
  const rows = await db
    .selectFrom('acmeChallenges')
    .select('answer')
    .where('name', '=', name)
    .where('type', '=', 'dns-01')
    .where('expiresAt', '>', now)
    .orderBy('token')
    .execute()
  return rows.map(({ answer }) => answer)
}

export const certificateCommands = {
  /** Keeps an existing key. */
  putAcmeAccount: command<AcmeAccountRow, void>(async (tx, row) => {
    const { url } = row
    await tx.db
      .insertInto('acmeAccounts')
      .values(row)
      .onConflict(conflict => conflict.column('directoryUrl').doUpdateSet({ url }))
      .execute()
  }),

  /**
   * @returns the leased row if its time has come, otherwise the earliest time to try again, in ms since the
   * epoch
   */
  claimCertificate: command<CertificateClaim, CertificateRow | { dueAt: number }>(async (tx, claim) => {
    const { host, directoryUrl, names, owner, now, until, isAlone } = claim
    await tx.db
      .insertInto('certificates')
      .values({ host, directoryUrl, names, nextAt: now, failures: 0, leaseUntil: 0 } as CertificateRow)
      .onConflict(conflict => conflict.column('host').doNothing())
      .execute()
    const found = tx.db.selectFrom('certificates').selectAll().where('host', '=', host)
    const row = await found.executeTakeFirstOrThrow()
    const isOther = row.directoryUrl !== directoryUrl || row.names !== names
    const nextAt = isOther ? Math.min(row.nextAt, now) : row.nextAt
    if (!isAlone && row.leaseOwner !== owner && row.leaseUntil > now) return { dueAt: row.leaseUntil }
    if (nextAt > now) return { dueAt: nextAt }
    const begun = isOther ? { orderUrl: null, orderKey: null, failures: 0 } : {}
    await tx.db
      .updateTable('certificates')
      .set({ directoryUrl, names, nextAt, leaseOwner: owner, leaseUntil: until, ...begun })
      .where('host', '=', host)
      .execute()
    return found.executeTakeFirstOrThrow()
  }),

  /**
   * Makes the next order due.
   * @returns false if an order is in progress
   */
  orderCertificate: command<{ host: string; now: number }, boolean>(async (tx, { host, now }) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('certificates')
      .set({ nextAt: now })
      .where('host', '=', host)
      .where('leaseUntil', '<=', now)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows > 0n) tx.announce(CERTIFICATE_DUE, host)
    return numUpdatedRows > 0n
  }),

  /**
   * Extends the lease, and stores the order in progress if it is given.
   * @returns false if the lease is lost
   */
  keepCertificate: command<
    Held & { until: number; order?: Pick<CertificateRow, 'orderUrl' | 'orderKey'> },
    boolean
  >(async (tx, { host, owner, until, order = {} }) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('certificates')
      .set({ leaseUntil: until, ...order })
      .where('host', '=', host)
      .where('leaseOwner', '=', owner)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0
  }),

  /**
   * Stores the certificate and deletes the answers to its challenges.
   *
   * @returns false if the lease is lost
   */
  putCertificate: command<
    Held &
      Pick<CertificateRow, 'chain' | 'key' | 'startsAt' | 'endsAt' | 'nextAt'> & {
        proven: readonly string[]
      },
    boolean
  >(async (tx, { host, owner, proven, ...got }) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('certificates')
      .set({ ...got, failures: 0, fault: null, failedAt: null, ...LET_GO, orderUrl: null, orderKey: null })
      .where('host', '=', host)
      .where('leaseOwner', '=', owner)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return false
    await deleteAnswers(tx, proven)
    tx.announce(CERTIFICATE_CHANGED, host)
    return true
  }),

  /** Stores the failure. The previous certificate is kept. */
  failCertificate: command<
    Held & { fault: string; failedAt: number; nextAt: number; failures: number; keepsOrder: boolean },
    void
  >(async (tx, { host, owner, keepsOrder, ...failure }) => {
    await tx.db
      .updateTable('certificates')
      .set({ ...failure, ...LET_GO, ...(keepsOrder ? {} : { orderUrl: null, orderKey: null }) })
      .where('host', '=', host)
      .where('leaseOwner', '=', owner)
      .execute()
  }),

  /** Stores an answer to a challenge and deletes expired ones. */
  putAcmeChallenge: command<AcmeChallengeRow & { now: number }, void>(async (tx, { now, ...row }) => {
    const { token: _, ...answer } = row
    await tx.db.deleteFrom('acmeChallenges').where('expiresAt', '<=', now).execute()
    if (row.type === 'dns-01') await increaseZoneSerial(tx)
    await tx.db
      .insertInto('acmeChallenges')
      .values(row)
      .onConflict(conflict => conflict.column('token').doUpdateSet(answer))
      .execute()
  }),
}

async function deleteAnswers(tx: Tx, names: readonly string[]): Promise<void> {
  const answers = tx.db.deleteFrom('acmeChallenges').where('name', 'in', names)
  const { numDeletedRows } = await answers.where('type', '=', 'dns-01').executeTakeFirstOrThrow()
  if (numDeletedRows > 0n) await increaseZoneSerial(tx)
  await answers.execute()
}

const LET_GO = { leaseOwner: null, leaseUntil: 0 }
