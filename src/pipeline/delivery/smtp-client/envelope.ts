/**
 * Prepares a transaction: the commands of its envelope with their parameters, and the framed message; or a
 * refusal when the peer has announced that it cannot accept the message.
 */
import { xtext } from '../../../protocols/smtp/dsn.ts'
import type { SmtpReply } from '../../../protocols/smtp/reply.ts'
import { frameMessage } from './framing.ts'
import type { SmtpSessionFacts, Transaction } from './types.ts'
import type { Wire } from './wire.ts'

/** A transaction that is ready to be sent. */
export interface Prepared {
  /** MAIL, one RCPT per recipient, and DATA, each with its CRLF. */
  commands: string[]
  /** Number of recipients, counted from the first, that the peer accepts in one transaction. */
  recipientCount: number
  /** The message with its final dot. */
  blocks: Buffer[]
}

/** Control characters are not allowed in a path, and spaces and angle brackets only in quotes. */
const UNFIT_FOR_PATH = /[\x00-\x20<>\x7f]/
const QUOTED_LOCAL_PART = /^"(?:[^"\\\x00-\x1f\x7f]|\\[ -~])+"(?=@)/
const NOT_ASCII = /[^\x00-\x7f]/

/** @throws when an address is invalid or contains control characters, or the message is malformed */
export function prepare(
  transaction: Transaction,
  { extensions, limits }: SmtpSessionFacts,
): Prepared | { refusal: SmtpReply } {
  const { mailFrom, message, smtpUtf8, requireTls = false } = transaction
  const recipients = transaction.recipients.slice(0, limits.recipients)
  if (recipients.length === 0) throw new Error('a transaction without recipients')
  for (const path of [mailFrom, ...recipients]) checkPath(path, smtpUtf8)
  if (recipients.includes('')) throw new Error('an empty recipient address')
  const { blocks, eightBit } = frameMessage(message)
  const refusal = refuse(transaction, eightBit, extensions)
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
    commands.push(
      `RCPT TO:<${path}>${reporting ? dsnOfRecipient(transaction.originalRecipient ?? `rfc822;${path}`) : ''}\r\n`,
    )
  commands.push('DATA\r\n')
  return { commands, recipientCount: recipients.length, blocks }
}

/** Writes all commands of the envelope at once (RFC 2920). */
export function writeEnvelope(wire: Wire, { commands }: Pick<Prepared, 'commands'>) {
  wire.write(commands.join(''), commands.length)
}

function checkPath(path: string, smtpUtf8: boolean) {
  if (UNFIT_FOR_PATH.test(path.replace(QUOTED_LOCAL_PART, '')))
    throw new Error(`not an address: ${JSON.stringify(path)}`)
  if (!smtpUtf8 && NOT_ASCII.test(path)) throw new Error(`needs SMTPUTF8: ${JSON.stringify(path)}`)
}

/**
 * RFC 1870 §6.1, RFC 6152 §3, RFC 6531 §3.2 and RFC 8689 §4.2.1: refuses a message that the announced
 * extensions rule out.
 */
function refuse(
  { size, smtpUtf8, requireTls = false }: Transaction,
  eightBit: boolean,
  extensions: SmtpSessionFacts['extensions'],
): SmtpReply | undefined {
  const limit = Number.parseInt(extensions.get('SIZE') ?? '', 10)
  if (limit > 0 && size > limit) {
    const text = `message of ${size} bytes is larger than the ${limit} bytes this server announces`
    return { code: 552, enhanced: '5.3.4', text }
  }
  if (smtpUtf8 && !extensions.has('SMTPUTF8'))
    return { code: 553, enhanced: '5.6.7', text: 'this server does not take internationalized addresses' }
  if (eightBit && !extensions.has('8BITMIME'))
    return { code: 554, enhanced: '5.6.3', text: 'this server does not take messages of 8 bits' }
  if (requireTls && !extensions.has('REQUIRETLS'))
    return {
      code: 550,
      enhanced: '5.7.30',
      text: 'this server does not promise to pass mail on over TLS alone',
    }
  return undefined
}

/** DSN parameters of MAIL: reports contain headers only, and name the email (RFC 3461 §4). */
function dsnOfMail(envelopeId: string): string {
  return ` RET=HDRS ENVID=${xtext(envelopeId)}`
}

/**
 * DSN parameters of RCPT. Few servers know the form for addresses outside ASCII, so ORCPT is left out for
 * them. Notifications come to our return path, which is why they are requested whatever the client wants.
 * @param original address type, semicolon and address
 */
function dsnOfRecipient(original: string): string {
  const at = original.indexOf(';') + 1
  const address = NOT_ASCII.test(original)
    ? ''
    : ` ORCPT=${original.slice(0, at)}${xtext(original.slice(at))}`
  return ` NOTIFY=FAILURE,DELAY${address}`
}
