/** Parameters that a program has written with characters beyond ASCII between the quotes, mostly the name of a file. */
import { fileNameParameters, parameter, plainFileName, withParameters } from '../mime/parameters.ts'

const PARAMETER = /;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s;"]+)[ \t]*/y
const NOT_ASCII = /[^\x00-\x7f]/

/**
 * The value of a Content-Type or Content-Disposition with those parameters as RFC 2231 writes them. An encoded word in their
 * place would take the closing quote along. Undefined where the value cannot be read.
 * @param value unfolded
 */
export function parametersInAscii(fieldName: string, value: string): string | undefined {
  const semicolon = value.indexOf(';')
  const head = value.slice(0, semicolon).trimEnd()
  if (semicolon < 0 || NOT_ASCII.test(head)) return undefined
  const parameters: string[] = []
  let end = semicolon
  PARAMETER.lastIndex = semicolon
  for (let match = PARAMETER.exec(value); match; match = PARAMETER.exec(value)) {
    parameters.push(...written(match[1]!, match[2]!, value))
    end = PARAMETER.lastIndex
  }
  if (NOT_ASCII.test(parameters.join('')) || NOT_ASCII.test(value.slice(end))) return undefined
  return withParameters(fieldName, head, parameters)
}

/** @param whole the value it stands in, which may say the name of the file in the extended form already */
function written(name: string, text: string, whole: string): string[] {
  if (!NOT_ASCII.test(text)) return [`${name}=${text}`]
  const plain = text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text
  if (whole.toLowerCase().includes(`${name.toLowerCase()}*`)) return [`${name}="${plainFileName(plain)}"`]
  return name.toLowerCase() === 'filename' ? fileNameParameters(plain) : parameter(name, plain)
}
