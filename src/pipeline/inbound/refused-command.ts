/**
 * Describes the command that a negative reply answers, for the log. It never contains a line of a login, nor
 * an unknown command: a client whose login has failed may go on with its password. Called by
 * `smtp-connection.ts`.
 */
import { readPath } from './envelope-path.ts'

/** Command that was refused on a connection. */
export interface RefusedCommand {
  /** Verb such as `RCPT`, or `unknown`. It is `DATA` for a message that was received. */
  verb: string
  /** Envelope sender as the client wrote it, empty for the null sender; undefined before MAIL FROM. */
  sender: string | undefined
  /** The refused recipient, or for other commands the recipients that were accepted before. */
  recipients: readonly string[]
}

interface Envelope {
  mailFrom: { address: string } | false
  rcptTo: readonly { address: string }[]
}

const VERBS = new Set(
  'EHLO HELO LHLO STARTTLS AUTH MAIL RCPT DATA BDAT RSET NOOP QUIT VRFY EXPN HELP ETRN XCLIENT XFORWARD'.split(
    ' ',
  ),
)
const WITH_PATH = /^(?:mail from|rcpt to)\s*:\s*(.*)/is

/**
 * @param line the command; no line of a login
 * @param envelope of the transaction that the command belongs to
 */
export function refusedCommand(line: string, envelope: Envelope | undefined): RefusedCommand {
  const word = /^[a-z]*/i.exec(line)![0].toUpperCase()
  const verb = VERBS.has(word) ? word : 'unknown'
  const path = readPath(line, 'of-devices')?.address ?? WITH_PATH.exec(line)?.[1]
  const sender = envelope?.mailFrom ? envelope.mailFrom.address : verb === 'MAIL' ? path : undefined
  if (verb === 'RCPT' && path !== undefined) return { verb, sender, recipients: [path] }
  return { verb, sender, recipients: envelope?.rcptTo.map(({ address }) => address) ?? [] }
}
