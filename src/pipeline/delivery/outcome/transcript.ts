/** Transcript of an attempt, as the API and the command line show it. */
import type { AttemptRow } from '../../../store/model/schema.ts'
import type { HostAttempt } from './host-attempt.ts'

export function transcriptOf(attempt: AttemptRow) {
  const hostAttempts = JSON.parse(attempt.transcript ?? '[]') as HostAttempt[]
  return {
    attempt: attempt.number,
    at: timeOf(attempt.startedAt),
    finished_at: attempt.finishedAt === null ? null : timeOf(attempt.finishedAt),
    outcome: attempt.outcome,
    phase: attempt.phase,
    reply: attempt.reply,
    mx_host: attempt.mxHost,
    mx_ip: attempt.mxIp,
    tls: attempt.tls,
    hosts: hostAttempts.map(({ source, tlsFallback, phases, ...hostAttempt }) => ({
      ...hostAttempt,
      source_ip: source ?? null,
      tls_fallback: tlsFallback,
      phases: phases.map(([phase, ms, reply]) => ({ phase, ms, reply })),
    })),
  }
}

function timeOf(at: number): string {
  return new Date(at).toISOString()
}
