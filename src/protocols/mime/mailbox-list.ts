/** Writes the values of the address fields From, Reply-To, To and Cc (RFC 5322 §3.4). */
import type { Mailbox } from '../smtp/address.ts'
import { encodedWords } from './encoded-word.ts'
import { foldTokens, PREFERRED_LINE_OCTETS } from './fold.ts'
import { oneLine } from './header-text.ts'

const ATOMS = /^[\w!#$%&'*+\-/=?^`{|}~]+(?: [\w!#$%&'*+\-/=?^`{|}~]+)*$/
const QUOTABLE = /^[\x20-\x7e]*$/
/** Longer display names are encoded, since encoded words fold anywhere and quoted strings do not. */
const QUOTED_CHARACTERS_MAX = 60

/**
 * Formats mailboxes such as `Name <local@domain>, …`, folded between mailboxes and between the encoded words
 * of a name.
 */
export function mailboxList(fieldName: string, mailboxes: readonly Mailbox[]): string {
  const column = fieldName.length + 2
  const tokens: string[] = []
  for (const [position, mailbox] of mailboxes.entries()) {
    tokens.push(...mailboxTokens(mailbox, PREFERRED_LINE_OCTETS - column))
    if (position < mailboxes.length - 1) tokens.push(`${tokens.pop()},`)
  }
  return foldTokens(tokens, column)
}

function mailboxTokens({ name, address }: Mailbox, room: number): string[] {
  const line = oneLine(name ?? '').trim()
  return line === '' ? [address] : [...phraseTokens(line, room), `<${address}>`]
}

/**
 * Formats a display name as plain words, as a quoted string or as encoded words: in the first form that
 * readers take literally.
 */
function phraseTokens(name: string, room: number): string[] {
  if (name.length > QUOTED_CHARACTERS_MAX || !QUOTABLE.test(name) || name.includes('=?'))
    return encodedWords(name, room)
  return [ATOMS.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`]
}
