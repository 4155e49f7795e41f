/** What the name of a file says of its type, and the other way round. */
import { extension, lookup } from 'mime-types'

export const ANY_BYTES = 'application/octet-stream'
/** Length of a media type with its parameters. */
export const MEDIA_TYPE_CHARACTERS_MAX = 1_000
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+/-]+|"[^"\\\r\n]*"))*$/

/** Whether the text is a media type with or without parameters (RFC 2045 §5.1), and of a bearable length. */
export function isMediaType(text: string): boolean {
  return text.length <= MEDIA_TYPE_CHARACTERS_MAX && MEDIA_TYPE.test(text)
}

export function typeOfFile(name: string): string | undefined {
  return lookup(name) || undefined
}

/** `stem`, with the usual extension of the type where it has one. */
export function nameForType(stem: string, type: string | undefined): string {
  const ending = type === undefined ? false : extension(type)
  return ending ? `${stem}.${ending}` : stem
}
