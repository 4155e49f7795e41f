/** Requests for delivery status notifications, as clients state them in SMTP (RFC 3461). */
import { foldAddress } from './address.ts'

const NOTIFY_WORDS = ['NEVER', 'SUCCESS', 'FAILURE', 'DELAY'] as const
export type NotifyWord = (typeof NOTIFY_WORDS)[number]

export interface DsnRequest {
  /** Envelope sender, which receives the notifications. */
  sender: string
  /** Part of the message that a notification of a failure returns; null leaves the choice to the server. */
  ret: 'FULL' | 'HDRS' | null
  /** ENVID, decoded; null if there was none. */
  envelopeId: string | null
  /** Recipients with a NOTIFY or ORCPT parameter. */
  recipients: DsnRecipient[]
}

interface DsnRecipient {
  address: string
  /** Null without NOTIFY: nothing is sent. */
  notify: NotifyWord[] | null
  /** ORCPT, decoded: address type, semicolon and address. */
  original: string | null
}

export function requestFor({ recipients }: DsnRequest, address: string): DsnRecipient | undefined {
  const folded = foldAddress(address)
  return recipients.find(recipient => foldAddress(recipient.address) === folded)
}

/** Tells whether any notification may become due. */
export function wantsNotices({ recipients }: DsnRequest): boolean {
  return recipients.some(({ notify }) => notify !== null && !notify.includes('NEVER'))
}

/** Characters outside the xtext alphabet (RFC 3461 §4). */
const NOT_XCHAR = /[^!-*,-<>-~]/g

/** Encodes a parameter. @param text characters of at most 8 bits */
export function xtext(text: string): string {
  return text.replace(
    NOT_XCHAR,
    octet => `+${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}
