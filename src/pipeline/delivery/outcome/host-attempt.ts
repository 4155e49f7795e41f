/**
 * One host spoken to, for the record: what was said in which phase, how long it took, and how it was secured.
 */
import { cleanText, formatReply } from '../../../protocols/smtp/reply.ts'
import type { Phase, PhaseReplies, PhaseTimings, TlsFacts } from '../smtp-client/types.ts'
import type { PolicyName } from '../tls-policy/host-tls-policy.ts'
import type { Outcome } from './outcome.ts'

/**
 * Phase, ms, and the reply as it came, cut. As short as it can be: every attempt is stored with some of them.
 */
export type PhaseRecord = [phase: Phase, ms: number, reply: string | null]

interface TlsRecord {
  /** As in `TLSv1.3`. */
  version: string
  cipher: string
  /** Whether the certificate verified, asked for or not; by DANE, whether it is the one that DNS names. */
  verified: boolean
  /** Why not. */
  reason: string | null
}

export interface HostAttempt {
  host: string
  ip: string
  /** Our own address, where it is one of several. */
  source?: string | undefined
  phase: string | null
  /** The last word. */
  reply: string
  /** Null for plain text. */
  tls: TlsRecord | null
  /** Why it is plain text although TLS was offered. */
  tlsFallback: string | null
  policy: PolicyName
  phases: PhaseRecord[]
}

const REPLY_CHARACTERS_MAX = 256

/** In the order in which the phases were entered. */
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

export function lastWord({ phase, reply, text }: Outcome): { phase: string | null; reply: string } {
  return { phase, reply: reply ? formatReply(reply) : text }
}

export function tlsRecord({ protocol, cipher, authorized, unauthorizedReason }: TlsFacts): TlsRecord {
  return { version: protocol, cipher, verified: authorized, reason: unauthorizedReason }
}

/** `TLSv1.3 verified`, as events and the attempt's row have it. */
export function tlsText({ version, verified }: TlsRecord): string {
  return verified ? `${version} verified` : version
}
