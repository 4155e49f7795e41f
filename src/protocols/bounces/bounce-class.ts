/** Bounce classes, and their names in webhooks and the API. */

export type BounceClass =
  | 'invalid-recipient'
  | 'inactive-mailbox'
  | 'bad-domain'
  | 'mailbox-full'
  | 'message-too-large'
  | 'content'
  | 'attachment'
  | 'spam'
  | 'blocked'
  | 'policy'
  | 'authentication'
  | 'sender'
  | 'greylisted'
  | 'rate-limited'
  | 'too-many-recipients'
  | 'protocol'
  | 'no-route'
  | 'unknown'

/** How webhooks and the API name a class. */
interface BounceType {
  type: 'Permanent' | 'Transient' | 'Undetermined'
  subtype:
    | 'General'
    | 'NoEmail'
    | 'MailboxFull'
    | 'MessageTooLarge'
    | 'ContentRejected'
    | 'AttachmentRejected'
}

/**
 * Only these say that mail to the address is in vain; everything else may be true of one message or one
 * sender.
 */
const ADDRESS_FAULTS: ReadonlySet<BounceClass> = new Set([
  'invalid-recipient',
  'inactive-mailbox',
  'bad-domain',
])

const TYPES: Partial<Record<BounceClass, BounceType>> = {
  'invalid-recipient': { type: 'Permanent', subtype: 'NoEmail' },
  'inactive-mailbox': { type: 'Permanent', subtype: 'General' },
  'bad-domain': { type: 'Permanent', subtype: 'General' },
  'no-route': { type: 'Permanent', subtype: 'General' },
  'mailbox-full': { type: 'Transient', subtype: 'MailboxFull' },
  'message-too-large': { type: 'Transient', subtype: 'MessageTooLarge' },
  content: { type: 'Transient', subtype: 'ContentRejected' },
  spam: { type: 'Transient', subtype: 'ContentRejected' },
  attachment: { type: 'Transient', subtype: 'AttachmentRejected' },
  blocked: { type: 'Transient', subtype: 'General' },
  policy: { type: 'Transient', subtype: 'General' },
  authentication: { type: 'Transient', subtype: 'General' },
  sender: { type: 'Transient', subtype: 'General' },
}

export function bounceType(bounceClass: BounceClass): BounceType {
  return TYPES[bounceClass] ?? { type: 'Undetermined', subtype: 'General' }
}

/** The class is a fault of the address; whether a reply of it is enough to suppress, `classify` tells. */
export function isAddressFault(bounceClass: BounceClass): boolean {
  return ADDRESS_FAULTS.has(bounceClass)
}
