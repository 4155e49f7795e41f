/** Envelope recipients of an email: every address in to, cc and bcc once. */
import { foldAddress, type Mailbox } from '../../protocols/smtp/address.ts'
import type { RecipientKind } from '../../store/model/schema.ts'
import { type Refusal, refuseField } from './refusal.ts'

/** Limit of the API; it counts entries, including duplicates. */
export const RECIPIENTS_MAX = 50

export interface EnvelopeRecipient {
  address: string
  domain: string
  kind: RecipientKind
}

/** Checks the number of recipients before any address is parsed, which is why the lists may hold anything. */
export function refuseTooMany(lists: Record<RecipientKind, readonly unknown[]>): Refusal | undefined {
  const count = lists.to.length + lists.cc.length + lists.bcc.length
  if (count <= RECIPIENTS_MAX) return undefined
  return refuseField(
    'too_many_recipients',
    'to',
    `\`to\`, \`cc\` and \`bcc\` must contain at most ${RECIPIENTS_MAX} recipients in total; got ${count}.`,
  )
}

/**
 * An address that occurs more than once keeps its first spelling and kind.
 * @param envelope recipients of an SMTP envelope; only these receive the message, and those in no list
 * receive a blind copy
 */
export function envelopeRecipients(
  lists: Record<RecipientKind, readonly Mailbox[]>,
  envelope?: readonly Mailbox[],
): EnvelopeRecipient[] {
  const named = firstOfEach(lists)
  if (!envelope) return [...named.values()]
  const bcc = firstOfEach({ to: [], cc: [], bcc: envelope })
  return [...bcc].map(([key, recipient]) => ({ ...recipient, kind: named.get(key)?.kind ?? 'bcc' }))
}

function firstOfEach(lists: Record<RecipientKind, readonly Mailbox[]>): Map<string, EnvelopeRecipient> {
  const seen = new Map<string, EnvelopeRecipient>()
  for (const kind of ['to', 'cc', 'bcc'] as const)
    for (const { address, domain } of lists[kind]) {
      const key = foldAddress(address)
      if (!seen.has(key)) seen.set(key, { address, domain, kind })
    }
  return seen
}
