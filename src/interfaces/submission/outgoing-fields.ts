/**
 * Builds the header section with which a submitted message is sent: its own fields without those that are
 * addressed to Mailhorn, mended where they are invalid or missing, in ASCII.
 */
import { type Refusal, refuseField } from '../../pipeline/accept/refusal.ts'
import { CORRELATION_HEADER } from '../../pipeline/delivery/message/signed-head.ts'
import { ROUNDS_HEADER, ROUNDS_MAX, readRounds } from '../../pipeline/inbound/rounds.ts'
import { LINE_OCTETS_MAX } from '../../protocols/mime/fold.ts'
import { structuredFault, userText } from '../../protocols/mime/header-text.ts'
import { mailboxList } from '../../protocols/mime/mailbox-list.ts'
import { ADDRESSES, inAscii } from '../../protocols/mime/read/ascii-field.ts'
import { HOPS_MAX, unfold } from '../../protocols/mime/read/head.ts'
import { parseMailboxes } from '../../protocols/smtp/address-list.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'
import { isRemoved } from './control-fields.ts'
import { hasLongLine, withShortFieldLines } from './lines.ts'
import { mendedFields, type Replacements } from './mended-fields.ts'

/** Fields that may occur once (RFC 5322 §3.6, RFC 2045). Receivers disagree about which of two counts. */
const ONCE = new Set([
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
])
/** Fields that encoded words would make unusable, besides those with a grammar in `header-text.ts`. */
const FOR_PROGRAMS =
  /^(?:content-.*|mime-version|date|received|return-path|sender|dkim-.*|domainkey-.*|arc-.*|authentication-results|received-spf)$/i

export function outgoingFields(
  fields: readonly HeaderField[],
  replacements: Replacements,
  hidesOrigin: boolean,
): HeaderField[] | Refusal {
  const seen = new Map<string, number>()
  for (const { name } of fields) seen.set(name.toLowerCase(), (seen.get(name.toLowerCase()) ?? 0) + 1)
  const twice = fields.find(({ name }) => ONCE.has(name.toLowerCase()) && seen.get(name.toLowerCase())! > 1)
  if (twice)
    return refuseField('invalid_field', twice.name, `The header \`${twice.name}\` must not occur twice.`)
  if ((seen.get('received') ?? 0) > HOPS_MAX)
    return { refused: 'mail_loop', message: 'Mail loop detected: the message has too many Received fields.' }
  const rounds = roundsOf(fields)
  if (rounds > ROUNDS_MAX)
    return {
      refused: 'mail_loop',
      message: `Mail loop detected: Mailhorn has sent this message on ${ROUNDS_MAX} times.`,
    }
  const leaving = fields.filter(field => !isRemoved(field, hidesOrigin))
  if (rounds > 0) leaving.unshift({ name: ROUNDS_HEADER, value: String(rounds) })
  const written = mendedFields(leaving, replacements).map(inAscii).map(withShortFieldLines)
  return shortened(written)
}

/** Refuses a field with a line that cannot be folded (RFC 5321 §4.5.3.1.6). */
function shortened(fields: readonly HeaderField[]): HeaderField[] | Refusal {
  const short: HeaderField[] = []
  for (const field of fields) {
    const written = hasLongLine(field) ? withoutLongWords(field) : field
    if (!written)
      return refuseField(
        'invalid_field',
        field.name,
        `The header \`${field.name}\` has a line of more than ${LINE_OCTETS_MAX} octets that cannot be folded.`,
      )
    short.push(written)
  }
  return short
}

/**
 * Folds addresses and ids that follow each other without a blank, and encodes text for people.
 * @returns undefined for other fields, whose long words programs read
 */
function withoutLongWords({ name, value }: HeaderField): HeaderField | undefined {
  const plain = unfold(value)
  const mailboxes = ADDRESSES.test(name) ? parseMailboxes(plain) : undefined
  if (mailboxes) return 'fault' in mailboxes ? undefined : shortOrNothing(name, mailboxList(name, mailboxes))
  if (FOR_PROGRAMS.test(name) || structuredFault(name, plain) !== undefined) return undefined
  return shortOrNothing(name, userText(name, plain))
}

function shortOrNothing(name: string, value: string): HeaderField | undefined {
  return hasLongLine({ name, value }) ? undefined : { name, value }
}

/** Counts the message that comes back from another host as sent on once more. */
function roundsOf(fields: readonly HeaderField[]): number {
  const find = (wanted: string) => fields.find(({ name }) => name.toLowerCase() === wanted.toLowerCase())
  return readRounds(find(ROUNDS_HEADER)?.value) + (find(CORRELATION_HEADER) ? 1 : 0)
}
