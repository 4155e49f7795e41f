/** Encodes parameters of header fields that a program has sent with 8-bit text, mostly file names. */
import {
  fileNameParameters,
  parameter,
  plainFileName,
  withParameters,
} from '../../protocols/mime/parameters.ts'
import { type RawParameter, rawParameters } from '../../protocols/mime/read/content-field.ts'

const NOT_ASCII = /[^\x00-\x7f]/

/**
 * Formats a Content-Type or Content-Disposition with its parameters by RFC 2231. Encoded words in their place
 * would enclose the closing quote.
 *
 * @param value unfolded value
 * @returns undefined when the value cannot be parsed
 */
export function parametersInAscii(fieldName: string, value: string): string | undefined {
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

/** @param isExtended whether the extended form of the same parameter stands beside it */
function written({ name, value, written: text }: RawParameter, isExtended: boolean): string[] {
  if (!NOT_ASCII.test(text)) return [`${name}=${text}`]
  if (isExtended) return [`${name}="${plainFileName(value)}"`]
  return name.toLowerCase() === 'filename' ? fileNameParameters(value) : parameter(name, value)
}
