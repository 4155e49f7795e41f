/**
 * Removes forged Authentication-Results fields, which carry the authserv-id of this host (RFC 8601 §5),
 * and Return-Path fields, which only the last host may write (RFC 5321 §4.4), before a message is passed to
 * consumers that rely on them. All other bytes stay unchanged.
 */
import { domainToASCII } from 'node:url'
import { decodeWords } from '../../../protocols/mime/read/encoded-words.ts'
import { type FieldRange, fieldRanges, isFieldNamed, rangeValue } from '../../../protocols/mime/read/head.ts'
import { RESULTS_FIELD } from './results-field.ts'
import { joined, takeHead, without } from './sanitize.ts'

const NAME = RESULTS_FIELD.toLowerCase()
/** A longer field is removed without being parsed. */
const FIELD_BYTES_MAX = 64 * 1024

/**
 * Removes forged fields and puts the fields of this host on top.
 *
 * @param mailHost authserv-id of this host
 * @param own its fields, in whole lines
 */
export function* withOwnFields(bytes: Uint8Array, mailHost: string, own: string): Generator<Uint8Array> {
  yield Buffer.from(own)
  yield* without(bytes, forgedFields(bytes, mailHost))
}

/** Streaming variant, which holds only the header section in memory. */
export async function* streamWithOwnFields(
  pieces: AsyncIterable<Uint8Array>,
  mailHost: string,
  own: string,
): AsyncGenerator<Uint8Array> {
  const rest = pieces[Symbol.asyncIterator]()
  try {
    const { bytes } = await takeHead(rest, Number.POSITIVE_INFINITY)
    yield* joined(withOwnFields(bytes, mailHost, own), rest)
  } finally {
    await rest.return?.()
  }
}

/**
 * Tells whether a field carries the authserv-id of this host.
 *
 * @param value unfolded value
 */
export function isForgedAuthResults(name: string, value: string, mailHost: string): boolean {
  if (name.trim().toLowerCase() !== NAME) return false
  const host = comparable(mailHost)
  // Encoded words are not allowed there, but consumers may decode them.
  return namesHost(value, host) || (value.includes('=?') && namesHost(decodeWords(value), host))
}

function* forgedFields(bytes: Uint8Array, mailHost: string): Generator<FieldRange> {
  for (const field of fieldRanges(bytes)) {
    if (isFieldNamed(bytes, field, 'return-path')) yield field
    if (!isFieldNamed(bytes, field, NAME)) continue
    const isReadable = field.to - field.from <= FIELD_BYTES_MAX
    if (!isReadable || isForgedAuthResults(NAME, rangeValue(bytes, field), mailHost)) yield field
  }
}

/**
 * A value that cannot be parsed counts as forged when it contains the host, since others may parse it
 * differently.
 */
function namesHost(value: string, host: string): boolean {
  const id = authservId(value)
  return id === undefined ? value.toLowerCase().includes(host) : comparable(id) === host
}

function comparable(host: string): string {
  const bare = host.trim().toLowerCase().replace(/\.$/, '')
  return domainToASCII(bare) || bare
}

/**
 * Returns the first word behind comments and blanks, quoted or not (RFC 8601 §2.2); undefined without one.
 */
function authservId(value: string): string | undefined {
  const at = behindComments(value)
  if (at === undefined) return undefined
  if (value[at] === '"') {
    const [, inner] = /^"((?:[^"\\]|\\.)*)"/s.exec(value.slice(at)) ?? []
    return inner?.replace(/\\(.)/gs, '$1')
  }
  return /^[^\s;("]+/.exec(value.slice(at))?.[0]
}

/**
 * Returns the position behind comments, which may be nested (RFC 5322 §3.2.2); undefined if a comment does
 * not end.
 */
function behindComments(value: string): number | undefined {
  let depth = 0
  for (let at = 0; at < value.length; at++) {
    const character = value[at]!
    if (character === '\\' && depth > 0) at += 1
    else if (character === '(') depth += 1
    else if (character === ')' && depth > 0) depth -= 1
    else if (depth === 0 && !/\s/.test(character)) return at
  }
  return undefined
}
