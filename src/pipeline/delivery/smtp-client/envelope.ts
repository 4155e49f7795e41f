/** What precedes a message on the line: the commands of its envelope, or our own refusal where the peer cannot take it. */
import type { SmtpReply } from '../../../protocols/smtp/reply.ts'
import { dsnOfMail, dsnOfRecipient } from './dsn.ts'
import { frameMessage } from './framing.ts'
import type { SmtpSessionFacts, Transaction } from './types.ts'

/** A transaction ready to be sent. */
export interface Prepared {
  /** MAIL, one RCPT for each recipient, and DATA or BDAT, each with its CRLF. */
  commands: string[]
  /** Those that the peer takes in one transaction, the first ones. */
  recipientCount: number
  /** The message; after DATA, the final dot, too. */
  blocks: Buffer[]
  /** Whether the message goes as one chunk (RFC 3030). */
  chunked: boolean
}

/** Control characters, blanks and angle brackets have no place in a path that is written without quotes. */
const UNFIT_FOR_PATH = /[\x00-\x20<>\x7f]/
const NOT_ASCII = /[^\x00-\x7f]/

/**
 * @param chunking whether the message may go by BDAT
 * @throws when an address could not be written, or would smuggle something in, or the message is malformed
 */
export function prepare(
  transaction: Transaction,
  { extensions, limits }: SmtpSessionFacts,
  chunking: boolean,
): Prepared | { refusal: SmtpReply } {
  const { mailFrom, message, smtpUtf8, requireTls = false } = transaction
  const recipients = transaction.recipients.slice(0, limits.recipients)
  if (recipients.length === 0) throw new Error('a transaction without recipients')
  for (const path of [mailFrom, ...recipients]) checkPath(path, smtpUtf8)
  if (recipients.includes('')) throw new Error('an empty recipient address')
  const { blocks, eightBit } = frameMessage(message, chunking)
  const refusal = refuse(transaction, extensions)
  if (refusal) return { refusal }
  let mail = `MAIL FROM:<${mailFrom}>`
  if (extensions.has('SIZE')) mail += ` SIZE=${transaction.size}`
  if (eightBit && extensions.has('8BITMIME')) mail += ' BODY=8BITMIME'
  if (smtpUtf8) mail += ' SMTPUTF8'
  if (requireTls) mail += ' REQUIRETLS'
  const reporting = extensions.has('DSN') && mailFrom !== '' && transaction.envelopeId !== undefined
  if (reporting) mail += dsnOfMail(transaction.envelopeId!())
  const commands = [`${mail}\r\n`]
  for (const path of recipients)
    commands.push(`RCPT TO:<${path}>${reporting ? dsnOfRecipient(path) : ''}\r\n`)
  commands.push(chunking ? `BDAT ${lengthOf(blocks)} LAST\r\n` : 'DATA\r\n')
  return { commands, recipientCount: recipients.length, blocks, chunked: chunking }
}

/** A chunk before the message proper, by which the peer shows that it knows BDAT. */
export interface EnvelopeProbe {
  command: string
  octets: Buffer
}

const PROBE_BYTES_MAX = 512

/**
 * Cuts the beginning off a message that goes as one chunk: a part of its first line. To a peer that offers BDAT and
 * does not know it, what follows is commands; this is none, since its line has no end.
 */
export function withProbe(prepared: Prepared): Prepared & { probe: EnvelopeProbe } {
  const [first, ...others] = prepared.blocks as [Buffer, ...Buffer[]]
  const lineEnd = first.subarray(0, PROBE_BYTES_MAX).indexOf('\r')
  const size = lineEnd > 0 ? lineEnd : Math.min(first.length - 1, lineEnd === 0 ? 1 : PROBE_BYTES_MAX)
  const [octets, rest] = [first.subarray(0, size), first.subarray(size)]
  const blocks = [rest, ...others]
  const commands = [...prepared.commands.slice(0, -1), `BDAT ${lengthOf(blocks)} LAST\r\n`]
  return { ...prepared, commands, blocks, probe: { command: `BDAT ${size}\r\n`, octets } }
}

function lengthOf(blocks: readonly Buffer[]): number {
  return blocks.reduce((sum, { length }) => sum + length, 0)
}

function checkPath(path: string, smtpUtf8: boolean) {
  if (UNFIT_FOR_PATH.test(path)) throw new Error(`not an address: ${JSON.stringify(path)}`)
  if (!smtpUtf8 && NOT_ASCII.test(path)) throw new Error(`needs SMTPUTF8: ${JSON.stringify(path)}`)
}

/** RFC 1870 §6.1, RFC 6531 §3.2 and RFC 8689 §4.2.1: what the peer announced rules this message out. */
function refuse(
  { size, smtpUtf8, requireTls = false }: Transaction,
  extensions: SmtpSessionFacts['extensions'],
): SmtpReply | undefined {
  const limit = Number.parseInt(extensions.get('SIZE') ?? '', 10)
  if (limit > 0 && size > limit) {
    const text = `message of ${size} bytes is larger than the ${limit} bytes this server announces`
    return { code: 552, enhanced: '5.3.4', text }
  }
  if (smtpUtf8 && !extensions.has('SMTPUTF8'))
    return { code: 553, enhanced: '5.6.7', text: 'this server does not take internationalized addresses' }
  if (requireTls && !extensions.has('REQUIRETLS'))
    return {
      code: 550,
      enhanced: '5.7.30',
      text: 'this server does not promise to pass mail on over TLS alone',
    }
  return undefined
}
