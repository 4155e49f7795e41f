/** Builds entities of text and HTML, and chooses a transfer encoding that arrives unaltered. */
import type { HeaderField } from '../smtp/header-field.ts'
import { base64LinesSize, writeBase64Lines } from './base64-lines.ts'
import { BOUNDARY_START } from './boundary.ts'
import { type Entity, leaf } from './entity.ts'
import { type LineSurvey, surveyLines, writeCrlfLines } from './line-survey.ts'
import { encodeQuotedPrintable } from './quoted-printable.ts'

type Encoding = '7bit' | 'quoted-printable' | 'base64'

/**
 * Limit of a line that is sent without encoding. RFC 5322 §2.1.1 allows 998 octets and recommends 78; between
 * the two, some gateways wrap or cut lines, which breaks DKIM signatures and HTML. Quoted-printable costs a
 * few per cent more octets.
 */
const PLAIN_LINE_OCTETS = 76

/**
 * Builds a `text/<subtype>` entity in UTF-8. Lone surrogates become U+FFFD, and each CRLF, CR and LF becomes
 * CRLF; nothing else changes. Base64 is used only if quoted-printable would be a fourth larger, since the
 * latter is legible to filters and people.
 */
export function textEntity(subtype: 'plain' | 'html', text: string): Entity {
  const bytes = Buffer.from(text)
  const survey = surveyLines(bytes)
  const encoding = chooseEncoding(text, bytes.length, survey)
  const fields: HeaderField[] = [
    { name: 'Content-Type', value: `text/${subtype}; charset=utf-8` },
    { name: 'Content-Transfer-Encoding', value: encoding },
  ]
  return leaf(fields, encode(bytes, survey, encoding), encoding === 'base64' || !survey.hasBlankRun)
}

/** Chooses the transfer encoding of a surveyed text. */
export function textEncoding(text: string): Encoding {
  const bytes = Buffer.from(text)
  return chooseEncoding(text, bytes.length, surveyLines(bytes))
}

function chooseEncoding(text: string, octets: number, survey: LineSurvey): Encoding {
  const ascii = survey.nonAsciiCount === 0 && survey.controlCount === 0
  if (ascii && survey.longestLineOctets <= PLAIN_LINE_OCTETS && !survey.hasFragileLine)
    if (!text.includes(BOUNDARY_START)) return '7bit'
  return smallerEncoding(octets, survey)
}

/** Chooses between the two encodings that make 7-bit text of any octets. */
export function smallerEncoding(octets: number, survey: LineSurvey): 'quoted-printable' | 'base64' {
  const quotedOctets = octets + 2 * (survey.nonAsciiCount + survey.controlCount + survey.equalsCount)
  return quotedOctets > base64LinesSize(octets) * 1.25 ? 'base64' : 'quoted-printable'
}

function encode(bytes: Buffer, survey: LineSurvey, encoding: Encoding): Buffer {
  if (encoding === 'quoted-printable') return encodeQuotedPrintable(bytes, survey)
  const lines = crlfLines(bytes, survey)
  if (encoding === '7bit') return lines
  const encoded = Buffer.allocUnsafe(base64LinesSize(lines.length))
  writeBase64Lines(lines, encoded, 0)
  return encoded
}

function crlfLines(bytes: Buffer, survey: LineSurvey): Buffer {
  const growth = survey.bareCrCount + survey.bareLfCount
  if (growth === 0) return bytes
  const lines = Buffer.allocUnsafe(bytes.length + growth)
  writeCrlfLines(bytes, lines, 0)
  return lines
}
