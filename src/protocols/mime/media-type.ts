/**
 * Parses the media type that a user gives an attachment, and formats it again, so that nothing else is sent
 * with it.
 */
import { isUtf8 } from 'node:buffer'
import { parameter } from './parameters.ts'

export interface MediaType {
  /** Media type, `type/subtype` in lower case. */
  essence: string
  /** Formatted parameters such as `method=REQUEST`. */
  parameters: string[]
}

const OCTET_STREAM = 'application/octet-stream'
const ESSENCE = /^\s*([\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127})\s*(?=;|$)/
const PARAMETER = /;\s*([\w!#$&^.+-]{1,60})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))\s*/y
/** Matches values that need no quotes (RFC 2045 §5.1). */
const TOKEN = /^[\w!#$%&'*+.^`{|}~-]{1,200}$/
/** Parameters that the composer sets. */
const OWN_PARAMETERS = ['name', 'boundary']

/**
 * Parses a media type (RFC 2045 §5.1). A text without a type is `application/octet-stream`, and so is
 * `multipart/*`: an attachment is opaque octets, and a composite type must not be encoded (§6.4).
 */
export function parseMediaType(text: string): MediaType {
  const match = ESSENCE.exec(text)
  const essence = match?.[1]?.toLowerCase() ?? OCTET_STREAM
  if (!match || essence.startsWith('multipart/')) return { essence: OCTET_STREAM, parameters: [] }
  return { essence, parameters: readParameters(text, match[0].length) }
}

/** Reads parameters up to the first text that is not a parameter. */
function readParameters(text: string, from: number): string[] {
  const parameters: string[] = []
  const seen = new Set(OWN_PARAMETERS)
  PARAMETER.lastIndex = from
  for (let match = PARAMETER.exec(text); match; match = PARAMETER.exec(text)) {
    const name = match[1]!.toLowerCase()
    if (seen.has(name)) continue
    seen.add(name)
    parameters.push(...typeParameter(name, match[2]?.replace(/\\(.)/gs, '$1') ?? match[3]!))
  }
  return parameters
}

/** Formats a parameter of a media type, without quotes if it needs none, since some readers expect none. */
function typeParameter(name: string, value: string): string[] {
  return TOKEN.test(value) ? [`${name}=${value}`] : parameter(name, value)
}

/** Part of a calendar that is searched for its method, which stands before the first component. */
const CALENDAR_HEAD_BYTES = 64 * 1024

/**
 * Completes the type of a calendar by what the object says: mail programs show an invitation only if the
 * type has the method (RFC 6047 §2.4), and the charset should be stated (RFC 5545 §3.1.4). Given parameters
 * stay; any other type is returned unchanged.
 */
export function withCalendarParameters(type: MediaType, content: Uint8Array): MediaType {
  if (type.essence !== 'text/calendar') return type
  const lacks = (name: string) => !type.parameters.some(parameter => /^[^=*]*/.exec(parameter)![0] === name)
  const method = lacks('method') ? calendarMethod(content) : undefined
  return {
    essence: type.essence,
    parameters: [
      ...(lacks('charset') && isUtf8(content) ? ['charset=utf-8'] : []),
      ...(method === undefined ? [] : [`method=${method}`]),
      ...type.parameters,
    ],
  }
}

/** Returns the METHOD of an iCalendar object in upper case, if it is a word (RFC 5545 §3.7.2, §3.1). */
function calendarMethod(content: Uint8Array): string | undefined {
  const head = Buffer.from(content.buffer, content.byteOffset, Math.min(content.length, CALENDAR_HEAD_BYTES))
  const lines = head
    .toString('latin1')
    .replace(/\r?\n[ \t]/g, '')
    .split(/\r\n|\n|\r/)
  let depth = 0
  for (const line of lines) {
    if (/^(?:\xef\xbb\xbf)?begin:/i.test(line)) depth++
    else if (/^end:/i.test(line)) depth--
    else if (depth === 1 && /^method[:;]/i.test(line))
      return /^method(?:;[^:]*)?:[ \t]*([a-z0-9-]{1,20})[ \t]*$/i.exec(line)?.[1]?.toUpperCase()
  }
  return undefined
}
