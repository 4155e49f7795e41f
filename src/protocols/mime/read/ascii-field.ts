/** Rewrites header fields that other programs wrote so that they are in ASCII. */
import { parseMailboxes } from '../../smtp/address-list.ts'
import type { HeaderField } from '../../smtp/header-field.ts'
import { userText } from '../header-text.ts'
import { mailboxList } from '../mailbox-list.ts'
import { nameParameter, parameter, withParameters } from '../parameters.ts'
import { type RawParameter, rawParameters } from './content-field.ts'
import { unfold } from './head.ts'

/** Fields that contain addresses. */
export const ADDRESSES = /^(?:(?:resent-)?(?:from|sender|to|cc)|reply-to)$/i
const WITH_PARAMETERS = /^content-(?:type|disposition)$/i
const NOT_ASCII = /[^\x00-\x7f]/

/** Encodes text beyond ASCII, which few servers accept; local parts of addresses cannot be encoded. */
export function inAscii({ name, value }: HeaderField): HeaderField {
  if (!NOT_ASCII.test(value)) return { name, value }
  const plain = unfold(value)
  if (WITH_PARAMETERS.test(name))
    return { name, value: parametersInAscii(name, plain) ?? userText(name, plain) }
  if (!ADDRESSES.test(name)) return { name, value: userText(name, plain) }
  const mailboxes = parseMailboxes(plain)
  if ('fault' in mailboxes) return { name, value: userText(name, plain) }
  return { name, value: mailboxList(name, mailboxes) }
}

/**
 * Formats a Content-Type or Content-Disposition with its parameters by RFC 2231. Encoded words in their place
 * would enclose the closing quote.
 *
 * @param value unfolded value
 * @returns undefined when the value cannot be parsed
 */
function parametersInAscii(fieldName: string, value: string): string | undefined {
  const found = [...rawParameters(value)]
  const main = value.slice(0, found[0]?.start ?? value.length).trimEnd()
  const between = found.map(({ end }, i) => value.slice(end, found[i + 1]?.start ?? value.length))
  if (found.length === 0 || NOT_ASCII.test(main + between.join(''))) return undefined
  const extended = new Set(
    found.filter(({ name }) => name.includes('*')).map(({ name }) => name.split('*')[0]!.toLowerCase()),
  )
  const parameters = found.flatMap(one => written(one, extended.has(one.name.toLowerCase())))
  return NOT_ASCII.test(parameters.join('')) ? undefined : withParameters(fieldName, main, parameters)
}

/** @param isExtended whether the extended form of the same parameter stands beside it, which replaces it */
function written({ name, value, written: text }: RawParameter, isExtended: boolean): string[] {
  if (!NOT_ASCII.test(text)) return [`${name}=${text}`]
  if (isExtended) return []
  return name.toLowerCase() === 'name' ? [nameParameter(value)] : parameter(name, value)
}
