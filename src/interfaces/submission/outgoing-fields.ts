/**
 * The header with which a submitted message leaves: as it came, with what it lacks, without what was for us
 * alone.
 */
import { type Refusal, refuseField } from '../../pipeline/accept/refusal.ts'
import { formatDate } from '../../protocols/mime/compose-head.ts'
import { userText } from '../../protocols/mime/header-text.ts'
import { mailboxList } from '../../protocols/mime/mailbox-list.ts'
import { unfold } from '../../protocols/mime/read/head.ts'
import { parseMailboxes } from '../../protocols/smtp/address-list.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'
import { staysHere } from './control-fields.ts'
import { withShortFieldLines } from './lines.ts'
import { parametersInAscii } from './raw-parameters.ts'

/** At most one each (RFC 5322 §3.6, RFC 2045): receivers disagree about which of two counts. */
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
const ADDRESSES = /^(?:(?:resent-)?(?:from|sender|to|cc)|reply-to)$/i
const WITH_PARAMETERS = /^content-(?:type|disposition)$/i
const NOT_ASCII = /[^\x00-\x7f]/
/** A message that comes by here so often goes in circles (RFC 5321 §6.3). */
const RECEIVED_MAX = 50

interface Missing {
  /** Value for a missing Date field, in ms since the epoch. */
  now: number
  /** Value for a missing Message-ID field, with angle brackets. */
  messageId: string
}

export function outgoingFields(fields: readonly HeaderField[], missing: Missing): HeaderField[] | Refusal {
  const seen = new Map<string, number>()
  for (const { name } of fields) seen.set(name.toLowerCase(), (seen.get(name.toLowerCase()) ?? 0) + 1)
  const twice = fields.find(({ name }) => ONCE.has(name.toLowerCase()) && seen.get(name.toLowerCase())! > 1)
  if (twice)
    return refuseField('invalid_field', twice.name, `The header \`${twice.name}\` must not occur twice.`)
  if ((seen.get('received') ?? 0) > RECEIVED_MAX)
    return {
      refused: 'invalid_field',
      message: 'Mail loop detected: the message has too many Received fields.',
    }
  const leaving = fields
    .filter(field => !staysHere(field))
    .map(inAscii)
    .map(withShortFieldLines)
  if (!seen.has('date')) leaving.push({ name: 'Date', value: formatDate(missing.now) })
  if (!seen.has('message-id')) leaving.push({ name: 'Message-ID', value: missing.messageId })
  return leaving
}

/** Text beyond ASCII is encoded, as few servers take it as it is; a local part can only stay. */
function inAscii({ name, value }: HeaderField): HeaderField {
  if (!NOT_ASCII.test(value)) return { name, value }
  const plain = unfold(value)
  if (WITH_PARAMETERS.test(name))
    return { name, value: parametersInAscii(name, plain) ?? userText(name, plain) }
  if (!ADDRESSES.test(name)) return { name, value: userText(name, plain) }
  const mailboxes = parseMailboxes(plain)
  if ('fault' in mailboxes) return { name, value: userText(name, plain) }
  return { name, value: mailboxList(name, mailboxes) }
}
