/** Classifies errors of PostgreSQL and of connections to it. */
import { codeOf, type StoreErrorKind } from '../model/errors.ts'

/**
 * Codes of connection errors, exhausted resources, shutdowns, a standby that accepts no writes, and time-outs
 * (Appendix A of the PostgreSQL manual).
 */
const UNAVAILABLE = /^(?:08...|53...|57014|57P0\d|58...|25006|25P0[34]|28...|3D000|E[A-Z_]+)$/
/**
 * Codes of conflicts with other transactions. A server that starts, stops or fails over reports them for a
 * moment, too.
 */
const CONTENDED = /^(?:40001|40P01|55P03)$/
/** Codes of corrupt data or indexes. */
const FATAL = /^(?:XX001|XX002)$/
/** Messages of connection errors for which the client has no code. */
const BROKEN =
  /^(?:Connection terminated|Client has encountered|Client was closed|Query read timeout|timeout e)/

export function postgresErrorKind(error: unknown): StoreErrorKind {
  const code = codeOf(error)
  if (FATAL.test(code)) return 'fatal'
  if (CONTENDED.test(code)) return 'contended'
  return UNAVAILABLE.test(code) || isBroken(error) ? 'unavailable' : 'own'
}

function isBroken(error: unknown): boolean {
  return error instanceof Error && BROKEN.test(error.message)
}

export function lacksTable(error: unknown): boolean {
  return codeOf(error) === '42P01'
}
