/**
 * Encodes a text that differs between messages only in some places: the common text is encoded once, and the
 * values are inserted. Quoted-printable can be split anywhere, since a line may end softly (RFC 2045 §6.7).
 */
import { type Entity, leaf } from './entity.ts'
import { surveyLines } from './line-survey.ts'
import { encodeQuotedPrintable } from './quoted-printable.ts'
import { textEncoding } from './text-entity.ts'

/** @param values values for the holes, without CR and LF */
export type SpliceText = (values: readonly string[]) => Entity

const SOFT_BREAK = Buffer.from('=\r\n')
const CR = 0x0d
const LF = 0x0a

/**
 * Returns undefined if the text must be encoded as a whole each time: because it would be base64, or because
 * a hole is inside a character or a line end.
 *
 * @param literals texts between the holes, at least one
 */
export function spliceableText(
  subtype: 'plain' | 'html',
  literals: readonly string[],
): SpliceText | undefined {
  if (textEncoding(literals.join('')) === 'base64') return undefined
  if (literals.some(literal => !literal.isWellFormed() || literal.endsWith('\r'))) return undefined
  const pieces = literals.map((literal, i) => encoded(literal, i < literals.length - 1))
  const fields = [
    { name: 'Content-Type', value: `text/${subtype}; charset=utf-8` },
    { name: 'Content-Transfer-Encoding', value: 'quoted-printable' },
  ]
  return values => {
    const all = pieces.flatMap((piece, i) => (i === 0 ? piece : [encoded(values[i - 1]!, true), piece]))
    const content = Buffer.concat(all.map(({ octets }) => octets))
    return leaf(
      fields,
      content,
      all.every(({ isRelaxed }) => isRelaxed),
    )
  }
}

interface Piece {
  octets: Buffer
  /** Value of `Entity.isRelaxed`. */
  isRelaxed: boolean
}

const NOTHING: Piece = { octets: Buffer.alloc(0), isRelaxed: true }

/**
 * Encodes a text.
 *
 * @param isFollowed whether a further text follows, which begins at the start of a line
 */
function encoded(text: string, isFollowed: boolean): Piece {
  if (text === '') return NOTHING
  const bytes = Buffer.from(text)
  const survey = surveyLines(bytes)
  const quoted = encodeQuotedPrintable(bytes, survey)
  const end = quoted.length
  const endsLine = quoted[end - 1] === LF && quoted[end - 2] === CR
  return {
    octets: isFollowed && !endsLine ? Buffer.concat([quoted, SOFT_BREAK]) : quoted,
    isRelaxed: !survey.hasBlankRun,
  }
}
