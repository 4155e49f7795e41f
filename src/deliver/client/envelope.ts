/** What precedes a message on the line: the commands of its envelope, or our own refusal where the peer cannot take it. */
import type { Reply } from '../../smtp/reply.ts'
import { frameMessage } from './framing.ts'
import type { SessionFacts, Transaction } from './types.ts'

/** A transaction ready to be sent. */
export interface Prepared {
  /** MAIL, one RCPT for each recipient, and DATA, each with its CRLF. */
  commands: string[]
  recipientCount: number
  /** The message and the final dot. */
  blocks: Buffer[]
}

/** Control characters, blanks and angle brackets have no place in a path that is written without quotes. */
const UNFIT_FOR_PATH = /[\x00-\x20<>\x7f]/
const NOT_ASCII = /[^\x00-\x7f]/

/** @throws when an address could not be written, or would smuggle something in, or the message is malformed */
export function prepare(
  transaction: Transaction,
  { extensions }: SessionFacts,
): Prepared | { refusal: Reply } {
  const { mailFrom, recipients, message, smtpUtf8 } = transaction
  if (recipients.length === 0) throw new Error('a transaction without recipients')
  for (const path of [mailFrom, ...recipients]) checkPath(path, smtpUtf8)
  if (recipients.includes('')) throw new Error('an empty recipient address')
  const { blocks, eightBit } = frameMessage(message)
  const refusal = refuse(transaction, extensions)
  if (refusal) return { refusal }
  let mail = `MAIL FROM:<${mailFrom}>`
  if (extensions.has('SIZE')) mail += ` SIZE=${transaction.size}`
  if (eightBit && extensions.has('8BITMIME')) mail += ' BODY=8BITMIME'
  if (smtpUtf8) mail += ' SMTPUTF8'
  const commands = [`${mail}\r\n`, ...recipients.map(path => `RCPT TO:<${path}>\r\n`), 'DATA\r\n']
  return { commands, recipientCount: recipients.length, blocks }
}

function checkPath(path: string, smtpUtf8: boolean) {
  if (UNFIT_FOR_PATH.test(path)) throw new Error(`not an address: ${JSON.stringify(path)}`)
  if (!smtpUtf8 && NOT_ASCII.test(path)) throw new Error(`needs SMTPUTF8: ${JSON.stringify(path)}`)
}

/** RFC 1870 §6.1 and RFC 6531 §3.2: what the peer announced rules this message out. */
function refuse({ size, smtpUtf8 }: Transaction, extensions: SessionFacts['extensions']): Reply | undefined {
  const limit = Number.parseInt(extensions.get('SIZE') ?? '', 10)
  if (limit > 0 && size > limit) {
    const text = `message of ${size} bytes is larger than the ${limit} bytes this server announces`
    return { code: 552, enhanced: '5.3.4', text }
  }
  if (smtpUtf8 && !extensions.has('SMTPUTF8'))
    return { code: 553, enhanced: '5.6.7', text: 'this server does not take internationalized addresses' }
  return undefined
}
