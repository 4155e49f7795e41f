/**
 * Parameters that a program has written with characters beyond ASCII between the quotes, mostly the name of a
 * file.
 */
import {
  fileNameParameters,
  parameter,
  plainFileName,
  withParameters,
} from '../../protocols/mime/parameters.ts'

const PARAMETER = /;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s;"]+)[ \t]*/y
const NOT_ASCII = /[^\x00-\x7f]/

/**
 * The value of a Content-Type or Content-Disposition with those parameters as RFC 2231 writes them. An
 * encoded word in their place would take the closing quote along. Undefined where the value cannot be read.
 * @param value unfolded
 */
export function parametersInAscii(fieldName: string, value: string): string | undefined {
  const semicolon = value.indexOf(';')
  const head = value.slice(0, semicolon).trimEnd()
  if (semicolon < 0 || NOT_ASCII.test(head)) return undefined
  const found: [name: string, text: string][] = []
  const extended = new Set<string>()
  let end = semicolon
  PARAMETER.lastIndex = semicolon
  for (let match = PARAMETER.exec(value); match; match = PARAMETER.exec(value)) {
    const [, name, text] = match as unknown as [string, string, string]
    found.push([name, text])
    if (name.includes('*')) extended.add(name.slice(0, name.indexOf('*')).toLowerCase())
    end = PARAMETER.lastIndex
  }
  const parameters = found.flatMap(([name, text]) => written(name, text, extended.has(name.toLowerCase())))
  if (NOT_ASCII.test(parameters.join('')) || NOT_ASCII.test(value.slice(end))) return undefined
  return withParameters(fieldName, head, parameters)
}

/** @param isExtended the same parameter stands beside it in the extended form */
function written(name: string, text: string, isExtended: boolean): string[] {
  if (!NOT_ASCII.test(text)) return [`${name}=${text}`]
  const plain = text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text
  if (isExtended) return [`${name}="${plainFileName(plain)}"`]
  return name.toLowerCase() === 'filename' ? fileNameParameters(plain) : parameter(name, plain)
}
