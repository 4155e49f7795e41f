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

/** Names of a class in webhooks and the API. */
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

/** Classes that say that mail to the address is in vain. All others may concern one message or one sender. */
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

/**
 * @param isTransient true for a transient failure that was given up (RFC 3463 §2, class 4), which is never
 *   permanent, whatever its class
 */
export function bounceType(bounceClass: BounceClass, isTransient: boolean): BounceType {
  const named = TYPES[bounceClass] ?? { type: 'Undetermined', subtype: 'General' }
  if (!isTransient || named.type === 'Transient') return named
  return { type: 'Transient', subtype: 'General' }
}

/**
 * Tells whether the class is a fault of the address; `classify` decides whether one reply suffices to
 * suppress it.
 */
export function isAddressFault(bounceClass: BounceClass): boolean {
  return ADDRESS_FAULTS.has(bounceClass)
}
