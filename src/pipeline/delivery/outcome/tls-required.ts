/**
 * Hosts that take nothing in plain text, of a session that was in plain text because TLS had failed before.
 */
import type { Outcome } from './outcome.ts'

const NAMES_TLS = /\b(?:START)?TLS\b/i

/** RFC 3207 §4: 530; others name it in their words. */
export function requiresTls({ verdict, reply }: Outcome): boolean {
  return verdict.kind !== 'delivered' && reply !== null && (reply.code === 530 || NAMES_TLS.test(reply.text))
}

/** What the fallback has brought about is no verdict on the message: it waits for TLS to be well again. */
export function waitingForTls(outcome: Outcome): Outcome {
  const { verdict } = outcome
  if (verdict.kind === 'delivered') return outcome
  return { ...outcome, verdict: { kind: 'deferred', class: verdict.class }, hostUnavailable: true }
}
