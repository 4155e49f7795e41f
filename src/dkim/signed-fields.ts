/** Which header fields a signature covers, and their canonical form (RFC 6376 §3.4.2, §5.4). */
import type { HeaderField } from '../smtp/header-field.ts'

export interface SignedFields {
  /** The h= tag: lower case, one entry for each field that is signed or must not be added. */
  names: string[]
  /** The relaxed fields in the order of `names`, each with its CRLF. */
  canonical: string
}

/** Named once more than they occur, so that one added on the way breaks the signature (RFC 6376 §8.15). */
const OVERSIGNED = [
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'in-reply-to',
  'references',
  'list-unsubscribe',
  'list-unsubscribe-post',
]
/** Signed where they occur; `x-posthorn-ref` ties a complaint to its delivery. */
const SIGNED = /^(?:feedback-id|x-posthorn-ref|list-.*|resent-.*)$/
const IRREGULAR = /\t|^ | $| {2}/

/**
 * Fields of the same name are taken from the bottom up, since readers count from there (§5.4.2).
 *
 * @throws when there is no From, which every signature must cover (§5.4)
 */
export function selectSignedFields(fields: readonly HeaderField[]): SignedFields {
  const byName = new Map<string, string[]>()
  for (const { name, value } of fields) {
    const key = name.trimEnd().toLowerCase()
    const values = byName.get(key)
    if (values) values.push(value)
    else byName.set(key, [value])
  }
  if (!byName.has('from')) throw new Error('a message without From cannot be signed')
  const names: string[] = []
  let canonical = ''
  const add = (name: string, values: readonly string[]) => {
    for (let at = values.length - 1; at >= 0; at--) {
      names.push(name)
      canonical += `${relaxedField(name, values[at]!)}\r\n`
    }
  }
  for (const name of OVERSIGNED) {
    add(name, byName.get(name) ?? [])
    names.push(name)
    byName.delete(name)
  }
  for (const [name, values] of byName) if (SIGNED.test(name)) add(name, values)
  return { names, canonical }
}

/** `name:value`, unfolded, runs of blanks as one, none at the ends (§3.4.2). No CRLF. */
export function relaxedField(lowerCaseName: string, value: string): string {
  const unfolded = value.replaceAll('\r\n', '')
  if (!IRREGULAR.test(unfolded)) return `${lowerCaseName}:${unfolded}`
  return `${lowerCaseName}:${unfolded.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')}`
}
