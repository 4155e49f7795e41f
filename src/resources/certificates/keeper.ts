/**
 * Keeps the certificate of a host valid. One process at a time orders a new certificate before the current
 * one expires. In: host names and ACME settings. Out: certificates in the store, and an alert after failures.
 * Called by `app/certificates.ts`.
 */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { type DueTimer, startDueTimer } from '../../lib/due-timer.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import type { Outbound } from '../../protocols/http-client/outbound.ts'
import type { Run } from '../../store/model/command.ts'
import type { OperatorAlertRow } from '../../store/model/schema/alerts.ts'
import type { CertificateRow } from '../../store/model/schema/certificates.ts'
import type { Db } from '../../store/model/schema.ts'
import { type alertCommands, hourOf } from '../alerts/operator-alerts.ts'
import { type certificateCommands, findAcmeAccount } from './certificate-rows.ts'
import { AcmeFault } from './fault.ts'
import { type AcmeAccount, type ChallengeType, obtainCertificate } from './order.ts'
import { type AcmeSession, createAcmeSession } from './session.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Share of the lifetime after which a certificate is renewed. The rest is a reserve for failures. */
const RENEW_AFTER = 2 / 3
/**
 * Random share of the lifetime by which renewals are spread, so that installations do not renew at the same
 * time.
 */
const SPREAD = 1 / 30
const FIRST_WAIT_MS = 10 * MINUTE_MS
const WAIT_MS_MAX = DAY_MS / 2
/** Upper limit of the delay that an authority may ask for. */
const OBEYED_MS_MAX = 7 * DAY_MS

export interface KeeperOptions {
  db: Db
  run: Run<typeof certificateCommands & typeof alertCommands>
  secrets: SecretKeys
  outbound: Pick<Outbound, 'send'>
  clock: Clock
  /** Returns a number between 0 and 1. */
  random(): number
  /** Owner of leases; differs between processes. */
  owner: string
  /** Whether no other process can use the store. */
  isAlone: boolean
  directoryUrl: string
  email: string | null
  onFailure(alert: OperatorAlertRow, nextAt: number): void
  /** Called with unexpected errors, such as those of the store. The work is retried after a minute. */
  onError(error: unknown): void
}

/** Certificate that a keeper keeps valid. */
export interface ManagedCertificate {
  /** Provider host, and the additional names of the certificate. */
  host: string
  names: readonly string[]
  /** @param failures number of consecutive failures, after which another challenge type may be tried */
  typeFor(name: string, failures: number): ChallengeType
  onCertificate(got: { names: readonly string[]; endsAt: number }): void
}

/** Kind of the operator alert. */
const CERTIFICATE_ALERT = 'certificate'

const LEASE_MS = 5 * MINUTE_MS
const CHALLENGE_MS = 60 * MINUTE_MS
const SLEEP_MS_MAX = 60 * MINUTE_MS

/** @returns the timer of the next order; `stop` aborts an order in progress */
export function startCertificateKeeper(options: KeeperOptions, certificate: ManagedCertificate): DueTimer {
  const stopping = new AbortController()
  const watch = startDueTimer({
    task: `renew the certificate of ${certificate.host}`,
    clock: options.clock,
    longestSleepMs: SLEEP_MS_MAX,
    afterFailureMs: MINUTE_MS,
    work: () => keep(options, certificate, stopping.signal),
    onError: options.onError,
  })
  return {
    note: watch.note,
    stop() {
      stopping.abort(new Stopped())
      return watch.stop()
    },
  }
}

/** The service stops. The order stays stored and continues at the next start. */
class Stopped extends Error {}

/** Another process has taken the lease. */
class LeaseLost extends Error {}

/** @returns time of the next check, in ms since the epoch */
async function keep(
  options: KeeperOptions,
  certificate: ManagedCertificate,
  signal: AbortSignal,
): Promise<number> {
  const { run, directoryUrl, owner, isAlone, clock } = options
  const { host } = certificate
  const now = clock.now()
  const names = JSON.stringify(certificate.names)
  const until = now + LEASE_MS
  const claimed = await run('claimCertificate', {
    ...{ host, directoryUrl, names, owner, now, until, isAlone },
  })
  if ('dueAt' in claimed) return claimed.dueAt
  try {
    return await order(options, certificate, claimed, signal)
  } catch (error) {
    if (error instanceof Stopped || error instanceof LeaseLost) return now + LEASE_MS
    if (!(error instanceof AcmeFault)) throw error
    // aborts its requests when the service stops
    return signal.aborted ? now + LEASE_MS : failed(options, claimed, error)
  }
}

async function order(
  options: KeeperOptions,
  { host, names, typeFor, onCertificate }: ManagedCertificate,
  row: CertificateRow,
  signal: AbortSignal,
): Promise<number> {
  const { run, secrets, clock, owner } = options
  const leased = () => ({ host, owner, until: clock.now() + LEASE_MS })
  const held = (isHeld: boolean) => {
    if (!isHeld) throw new LeaseLost()
  }
  const begun =
    row.orderUrl !== null && row.orderKey !== null ? { url: row.orderUrl, key: row.orderKey } : null
  const { chain, key } = await obtainCertificate({
    account: await openAccount(options),
    names,
    clock,
    signal,
    begun: begun && { url: begun.url, key: unsealed(secrets, begun.key, host) },
    save: async order =>
      held(
        await run('keepCertificate', {
          ...leased(),
          order: {
            orderUrl: order?.url ?? null,
            orderKey: order && secrets.seal(Buffer.from(order.key), sealOf(host)),
          },
        }),
      ),
    typeFor: name => typeFor(name, row.failures),
    put: answer =>
      run('putAcmeChallenge', { ...answer, expiresAt: clock.now() + CHALLENGE_MS, now: clock.now() }),
    keep: async () => held(await run('keepCertificate', leased())),
  })
  const { startsAt, endsAt } = lifeOf({ chain, key }, names, clock.now())
  const nextAt = renewalAt(startsAt, endsAt, options.random())
  const sealed = secrets.seal(Buffer.from(key), sealOf(host))
  held(
    await run('putCertificate', { host, owner, proven: names, chain, key: sealed, startsAt, endsAt, nextAt }),
  )
  onCertificate({ names, endsAt })
  return nextAt
}

async function failed(options: KeeperOptions, row: CertificateRow, error: AcmeFault): Promise<number> {
  const { run, clock, owner } = options
  const { host } = row
  const failedAt = clock.now()
  const failures = row.failures + 1
  const nextAt = retryAt(failedAt, failures, error.retryAfterMs, options.random())
  const fault = error.message
  const alert: OperatorAlertRow = {
    hour: hourOf(failedAt),
    kind: CERTIFICATE_ALERT,
    provider: new URL(options.directoryUrl).hostname,
    sourceIp: '',
    raisedAt: failedAt,
    mxHost: null,
    domain: host,
    reply: fault,
  }
  await run('raiseAlert', alert)
  await run('failCertificate', {
    host,
    owner,
    fault,
    failedAt,
    failures,
    nextAt,
    keepsOrder: error.isPassing,
  })
  options.onFailure(alert, nextAt)
  return nextAt
}

/** Opens a session with the existing ACME account, or with a new one. */
async function openAccount(options: KeeperOptions): Promise<AcmeAccount> {
  const { db, run, secrets, outbound, directoryUrl, email, clock } = options
  const known = await findAcmeAccount(db, directoryUrl)
  const seal = `acme-account ${directoryUrl}`
  const pem = known ? secrets.open(known.key, seal).toString() : newKey()
  const key = createPrivateKey(pem)
  const session = createAcmeSession({ outbound, directoryUrl, key, now: clock.now })
  const row = known ?? {
    directoryUrl,
    key: secrets.seal(Buffer.from(pem), seal),
    url: null,
    createdAt: clock.now(),
  }
  if (!known) await run('putAcmeAccount', row)
  const url = await accountOf(session, row.url, email)
  if (url !== row.url) await run('putAcmeAccount', { ...row, url })
  return { session, key, url }
}

/** Creates a new account if the authority has deleted the old one, as test authorities do at each start. */
async function accountOf(session: AcmeSession, known: string | null, email: string | null): Promise<string> {
  if (known === null) return registerAccount(session, email)
  try {
    await session.post(known, null, known)
    return known
  } catch (error) {
    if (!(error instanceof AcmeFault) || error.kind !== 'accountDoesNotExist') throw error
    return registerAccount(session, email)
  }
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** @throws AcmeFault if the certificate does not match the key or the names */
function lifeOf({ chain, key }: { chain: string; key: string }, names: readonly string[], now: number) {
  const own = certificateIn(chain)
  const endsAt = Date.parse(own.validTo)
  const missing = names.find(name => own.checkHost(name) === undefined)
  if (missing !== undefined) throw new AcmeFault('unreadable', `the certificate given is not for ${missing}`)
  if (!own.checkPrivateKey(createPrivateKey(key)) || endsAt <= now)
    throw new AcmeFault('unreadable', 'the certificate given is not for our key, or has ended')
  return { startsAt: Date.parse(own.validFrom), endsAt }
}

function certificateIn(chain: string): X509Certificate {
  try {
    return new X509Certificate(chain)
  } catch (error) {
    throw new AcmeFault('unreadable', `the certificate given cannot be read: ${(error as Error).message}`)
  }
}

function sealOf(host: string): string {
  return `certificate ${host}`
}

/** @throws if the key was sealed with another secret */
export function unsealed(secrets: SecretKeys, key: Uint8Array, host: string): string {
  return secrets.open(key, sealOf(host)).toString()
}

/**
 * Creates the ACME account of the key, or finds it if it exists (RFC 8555 §7.3). Agrees to the terms of
 * service.
 * @param email null for an account without an address
 * @returns the URL of the account
 * @throws AcmeFault
 */
async function registerAccount(session: AcmeSession, email: string | null): Promise<string> {
  const { newAccount } = await session.directory()
  const contact = email === null ? {} : { contact: [`mailto:${email}`] }
  const { location } = await session.post(newAccount, { termsOfServiceAgreed: true, ...contact }, null)
  if (location === null) throw new AcmeFault('unreadable', 'the authority does not say where the account is')
  return location
}

/**
 * Returns when to order the next certificate.
 * @param random number between 0 and 1
 * @returns ms since the epoch
 */
function renewalAt(startsAt: number, endsAt: number, random: number): number {
  const lifeMs = endsAt - startsAt
  return Math.round(startsAt + lifeMs * (RENEW_AFTER - SPREAD * random))
}

/**
 * Doubles the delay with every failure, from ten minutes to twelve hours, which respects the limits of
 * authorities for failed validations.
 * @param failures number of consecutive failures including this one
 * @returns ms since the epoch
 */
function retryAt(now: number, failures: number, retryAfterMs: number | null, random: number): number {
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), WAIT_MS_MAX)
  const obeyedMs = Math.min(retryAfterMs ?? 0, OBEYED_MS_MAX)
  return Math.round(now + Math.max(waitMs * (1 + random / 4), obeyedMs))
}
