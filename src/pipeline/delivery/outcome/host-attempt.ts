/**
 * Record of the attempt at one host: its replies and the time spent in each phase, and the TLS parameters.
 */
import { cleanText } from '../../../protocols/smtp/reply.ts'
import type { Phase, PhaseReplies, PhaseTimings, TlsFacts } from '../smtp-client/types.ts'
import type { PolicyName } from '../tls-policy/host-tls-policy.ts'

/**
 * Phase, duration in ms, and the truncated reply. The record is short because every attempt stores several of
 * them.
 */
export type PhaseRecord = [phase: Phase, ms: number, reply: string | null]

interface TlsRecord {
  /** TLS version such as `TLSv1.3`. */
  version: string
  cipher: string
  /**
   * Whether the certificate was verified, even if that was not required. With DANE, whether it matches a TLSA
   * record.
   */
  verified: boolean
  /** Why the certificate was not verified. */
  reason: string | null
}

export interface HostAttempt {
  host: string
  ip: string
  /** Source address, if several are configured. */
  source?: string | undefined
  phase: string | null
  /** The last reply or error. */
  reply: string
  /** Null for plain text. */
  tls: TlsRecord | null
  /** Why the session was in plain text although the host offered TLS. */
  tlsFallback: string | null
  policy: PolicyName
  phases: PhaseRecord[]
}

const REPLY_CHARACTERS_MAX = 256

/** @returns the phases in the order in which they were entered */
export function phaseRecords(timings: PhaseTimings, replies: PhaseReplies): PhaseRecord[] {
  const records: PhaseRecord[] = []
  for (const phase in timings) {
    const reply = replies[phase as Phase]
    const text = reply
      ? cleanText(`${reply.code} ${reply.lines.join(' ')}`.slice(0, REPLY_CHARACTERS_MAX))
      : null
    records.push([phase as Phase, Math.round(timings[phase as Phase]!), text])
  }
  return records
}

export function tlsRecord({ protocol, cipher, authorized, unauthorizedReason }: TlsFacts): TlsRecord {
  return { version: protocol, cipher, verified: authorized, reason: unauthorizedReason }
}

/** Returns text such as `TLSv1.3 verified`, for events and the row of the attempt. */
export function tlsText({ version, verified }: TlsRecord): string {
  return verified ? `${version} verified` : version
}
