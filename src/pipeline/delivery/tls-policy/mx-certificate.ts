/**
 * Looks at port 25 of an MX host as a sender that honours MTA-STS does: STARTTLS, and a certificate that
 * chains to a trusted authority and is for the host (RFC 8461 §4.1).
 *
 * In: a host and its addresses. Out: what a sender would find wrong. Called for the hosts of our own policy.
 */
import type { SecureContext } from 'node:tls'
import type { Clock } from '../../../lib/clock.ts'
import { openSession } from '../smtp-client/open.ts'
import { DEFAULT_TIMEOUTS, type SmtpFailure } from '../smtp-client/types.ts'

interface MxHost {
  host: string
  addresses: readonly string[]
}

interface LookOptions {
  port: number
  /** Trusts the authorities that senders trust. */
  secureContext: SecureContext
  /** Name for EHLO. */
  localName: string
  clock: Clock
}

export interface MxFault {
  host: string
  /** Null if the host has no address. */
  address: string | null
  /** Whether the host accepted the connection, so that the fault does not lie in the network. */
  isReached: boolean
  reason: string
}

const ADDRESSES_MAX = 16
const PHASE_TIMEOUT_MS = 4_000
const TIMEOUTS = Object.fromEntries(
  Object.keys(DEFAULT_TIMEOUTS).map(phase => [phase, PHASE_TIMEOUT_MS]),
) as typeof DEFAULT_TIMEOUTS

/**
 * Looks at every address, because senders may choose any of them.
 * @returns undefined if at least one address is good and no other one shows a bad certificate
 */
export async function mxCertificateFault(
  { host, addresses }: MxHost,
  options: LookOptions,
): Promise<MxFault | undefined> {
  if (addresses.length === 0)
    return { host, address: null, isReached: false, reason: 'the name has no address' }
  const looked = addresses.slice(0, ADDRESSES_MAX)
  const failures = await Promise.all(looked.map(address => failureAt(host, address, options)))
  const faults = failures.flatMap((failure, at) => (failure ? [faultOf(host, looked[at]!, failure)] : []))
  const shown = faults.find(({ isReached }) => isReached)
  return shown ?? (faults.length === looked.length ? faults[0] : undefined)
}

async function failureAt(
  host: string,
  address: string,
  { port, secureContext, localName, clock }: LookOptions,
): Promise<SmtpFailure | undefined> {
  const session = await openSession({
    mxHost: host,
    address,
    port,
    localName,
    tls: { mode: 'required', secureContext, rejectUnauthorized: true },
    timeouts: TIMEOUTS,
    clock,
  })
  if ('failure' in session) return session.failure
  await session.quit()
  return undefined
}

function faultOf(host: string, address: string, { phase, message }: SmtpFailure): MxFault {
  return { host, address, isReached: phase !== 'connect', reason: message }
}

/** A sentence about the fault, which tells a network that keeps this host from its own address. */
export function mxFaultText({ host, address, isReached, reason }: MxFault, port: number): string {
  const at = address === null ? host : `${host} (${address})`
  if (isReached) return `Port ${port} of ${at} does not pass verification: ${reason}.`
  const why = `Port ${port} of ${at} cannot be reached from this host: ${reason}.`
  if (address === null) return why
  return `${why} Some routers block connections from this server to its own public address.`
}
