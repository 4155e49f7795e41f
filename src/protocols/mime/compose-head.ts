/**
 * Composes the header section of the message for one recipient. The body and the fields that describe it are
 * composed separately (`compose-body.ts`), since one body serves many header sections.
 */
import type { Mailbox } from '../smtp/address.ts'
import type { HeaderField } from '../smtp/header-field.ts'
import { formatDate } from './date.ts'
import { literalText, userText } from './header-text.ts'
import { mailboxList } from './mailbox-list.ts'

export interface HeadSource {
  from: Mailbox
  /** Recipients; without any, the field is left out. */
  to: readonly Mailbox[]
  cc: readonly Mailbox[]
  replyTo: readonly Mailbox[]
  subject: string
  /** Value of the Date field, in ms since the epoch. */
  sentAt: number
  /** Message-ID with angle brackets. */
  messageId: string
  /**
   * Fields of the user, with names in printable ASCII without colon (RFC 5322 §2.2) of at most 900
   * characters.
   */
  headers: readonly (readonly [name: string, value: string])[]
}

const FIELD_NAME = /^[!-9;-~]{1,900}$/
const BODY_FIELDS = ['mime-version', 'content-type', 'content-transfer-encoding']

/**
 * Returns Date, From, Reply-To, To, Cc, Subject and Message-ID, then the fields of the user in their order.
 * No name occurs twice: a field of the user is left out if the composer sets a field of that name here or
 * with the body, or if an earlier field of the user has it.
 *
 * @throws on a field name that would break the header section
 */
export function composeHead(source: HeadSource): HeaderField[] {
  const fields: HeaderField[] = [
    { name: 'Date', value: formatDate(source.sentAt) },
    { name: 'From', value: mailboxList('From', [source.from]) },
  ]
  for (const [name, mailboxes] of [
    ['Reply-To', source.replyTo],
    ['To', source.to],
    ['Cc', source.cc],
  ] as const)
    if (mailboxes.length > 0) fields.push({ name, value: mailboxList(name, mailboxes) })
  fields.push({ name: 'Subject', value: literalText('Subject', source.subject) })
  fields.push({ name: 'Message-ID', value: userText('Message-ID', source.messageId) })
  if (source.headers.length > 0) addUserFields(fields, source.headers)
  return fields
}

function addUserFields(fields: HeaderField[], headers: HeadSource['headers']): void {
  const taken = new Set(BODY_FIELDS)
  for (const { name } of fields) taken.add(name.toLowerCase())
  for (const [name, value] of headers) {
    if (!FIELD_NAME.test(name)) throw new Error(`not a header field name: ${JSON.stringify(name)}`)
    const key = name.toLowerCase()
    if (taken.has(key)) continue
    taken.add(key)
    fields.push({ name, value: userText(name, value) })
  }
}
