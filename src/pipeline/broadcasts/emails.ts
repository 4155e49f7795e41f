/** Makes the email of a broadcast for a contact. It stores only what differs between recipients. Pure. */

import { type Id, idText } from '../../lib/ids.ts'
import { domainOf } from '../../protocols/smtp/address.ts'
import { compactMailboxes, OWN_MESSAGE_ID, senderDomain } from '../../resources/emails/email-rows.ts'
import { PERSONAL_CHARACTERS_MAX } from '../../resources/templates/limits.ts'
import { fillTemplate } from '../../resources/templates/render.ts'
import { builtInOf, propertyOf } from '../../resources/templates/variables.ts'
import { type BroadcastRow, type ContactRow, DELIVERY_CLASS, type Json } from '../../store/model/schema.ts'
import { SUBJECT_CHARACTERS_MAX } from '../accept/field-rules.ts'
import { EMPTY_EMAIL_ROW } from '../accept/new-email.ts'
import type { NewEmail } from '../accept/store-emails.ts'
import { sameList } from './attachments.ts'
import { compiledSubject } from './texts.ts'

type Contact = Pick<ContactRow, 'email' | 'firstName' | 'lastName' | 'properties'>

/** Values shared by all emails made at one time. */
export interface EmailTerms {
  now: number
  expireAfterMs: number
  simulatorDomains: ReadonlySet<string>
}

export function emailMaker(row: BroadcastRow, terms: EmailTerms): (contact: Contact, id: Id) => NewEmail {
  const { now, expireAfterMs, simulatorDomains } = terms
  const fromDomain = senderDomain(row.sender)
  const sender = compactMailboxes(row.sender)
  const names = row.variables === null ? null : (JSON.parse(row.variables) as string[])
  const subjectOf = subjectMaker(row)
  const content = { contentId: row.sentContentId! }
  const { attachments, blobs } = sameList(row.attachments)
  return (contact, id) => {
    const { email: address } = contact
    const domain = domainOf(address)
    const simulated = simulatorDomains.has(domain)
    return {
      row: {
        ...EMPTY_EMAIL_ROW,
        accountId: row.accountId,
        id,
        sender,
        toList: address,
        replyToList: row.replyToList,
        subject: subjectOf(contact),
        variables: names && valuesOf(names, contact),
        attachments,
        messageId: OWN_MESSAGE_ID,
        recipientCount: 1,
        createdAt: now,
        broadcastId: row.id,
        templateId: row.templateId,
        topicId: row.topicId,
      },
      fromDomain,
      content,
      blobs,
      recipients: [{ address, domain, kind: 'to', simulated }],
      simulated,
      owesNotices: false,
      class: DELIVERY_CLASS.broadcast,
      expiresAt: now + expireAfterMs,
    }
  }
}

/** Values of the variables as JSON; a variable without a value is omitted. */
function valuesOf(names: readonly string[], contact: Contact): Json {
  const valueFor = valueFinder(contact)
  const values: Record<string, string> = Object.create(null)
  for (const name of names) {
    const value = valueFor(name)
    if (value !== undefined && value !== '') values[name] = value
  }
  return JSON.stringify(values)
}

/** Returns the value of a placeholder, except those that follow from the email itself. */
export function valueFinder({
  firstName,
  lastName,
  properties,
}: Contact): (name: string) => string | undefined {
  let parsed: Record<string, unknown> | undefined
  return name => {
    const builtIn = builtInOf(name)
    if (builtIn === 'first_name') return firstName ?? undefined
    if (builtIn === 'last_name') return lastName ?? undefined
    parsed ??= JSON.parse(properties) as Record<string, unknown>
    const key = Object.hasOwn(parsed, name) ? name : propertyOf(name)
    const value = Object.hasOwn(parsed, key) ? parsed[key] : undefined
    return value === undefined || value === null || typeof value === 'object' ? undefined : String(value)
  }
}

function subjectMaker({ sentSubject, subject: written, id }: BroadcastRow): (contact: Contact) => string {
  const subject = sentSubject ?? written
  const template = compiledSubject(subject)
  if (template.variables.length === 0) return () => subject
  return contact => {
    const valueFor = valueFinder(contact)
    const values = template.variables.map(({ name }) => {
      const builtIn = builtInOf(name)
      if (builtIn === 'email') return contact.email
      return builtIn === 'broadcast_id' ? `brd_${idText(id)}` : valueFor(name)
    })
    const filled = fillTemplate(template, values, PERSONAL_CHARACTERS_MAX)
    return (filled.ok ? filled.subject! : subject).slice(0, SUBJECT_CHARACTERS_MAX).toWellFormed()
  }
}
