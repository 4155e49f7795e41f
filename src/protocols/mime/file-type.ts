/** Maps file names to media types, and media types to file names. */
import { extension, lookup } from 'mime-types'

export const ANY_BYTES = 'application/octet-stream'
/** Length of a media type with its parameters. */
export const MEDIA_TYPE_CHARACTERS_MAX = 1_000
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+/-]+|"[^"\\\r\n]*"))*$/

/**
 * Returns a media type with or without parameters (RFC 2045 §5.1), without outer blanks and a last semicolon,
 * or undefined if the text is something else or too long.
 */
export function legibleMediaType(text: string): string | undefined {
  if (text.length > MEDIA_TYPE_CHARACTERS_MAX) return undefined
  const type = text.trim().replace(/\s*;$/, '')
  return MEDIA_TYPE.test(type) ? type : undefined
}

export function typeOfFile(name: string): string | undefined {
  return lookup(name) || undefined
}

/** Appends the usual extension of the media type, if there is one. */
export function nameForType(stem: string, type: string | undefined): string {
  const suffix = type === undefined ? false : extension(type)
  return suffix ? `${stem}.${suffix}` : stem
}
