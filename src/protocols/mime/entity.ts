/**
 * Entities are the parts of a body. They are measured first and then written into one buffer (RFC 2046 §5.1).
 */
import { fieldsText, type HeaderField } from '../smtp/header-field.ts'
import { withParameters } from './parameters.ts'

export interface Entity {
  readonly fields: readonly HeaderField[]
  readonly sizeBytes: number
  /**
   * True if the content has no tabs, no adjacent blanks, and no blanks at the end of a line, so that the
   * relaxed canonicalization of DKIM does not change it (RFC 6376 §3.4.4).
   */
  readonly isRelaxed: boolean
  /** Writes `sizeBytes` octets from `position` on. */
  write(out: Buffer, position: number): void
}

/** Builds an entity whose content is encoded already. */
export function leaf(fields: readonly HeaderField[], content: Uint8Array, isRelaxed: boolean): Entity {
  const sizeBytes = content.length
  return { fields, sizeBytes, isRelaxed, write: (out, position) => out.set(content, position) }
}

const IRREGULAR_BLANKS = /\t| [ \r]/

/**
 * Builds a `multipart/<subtype>` entity of at least one part.
 *
 * @param boundary must occur in no part, and the boundaries of inner multiparts must not begin with it
 * @param parameters parameters beside `boundary`
 */
export function multipart(
  subtype: string,
  boundary: string,
  parts: readonly Entity[],
  parameters: readonly string[] = [],
): Entity {
  const delimiters = parts.map(
    ({ fields }, position) => `${position === 0 ? '' : '\r\n'}--${boundary}\r\n${fieldsText(fields)}\r\n`,
  )
  const closing = `\r\n--${boundary}--\r\n`
  let sizeBytes = closing.length
  for (const [position, part] of parts.entries())
    sizeBytes += Buffer.byteLength(delimiters[position]!) + part.sizeBytes
  const type = withParameters('Content-Type', `multipart/${subtype}`, [
    ...parameters,
    `boundary="${boundary}"`,
  ])
  return {
    fields: [{ name: 'Content-Type', value: type }],
    sizeBytes,
    isRelaxed: parts.every(part => part.isRelaxed) && !delimiters.some(text => IRREGULAR_BLANKS.test(text)),
    write(out, position) {
      let to = position
      for (const [index, part] of parts.entries()) {
        to += out.write(delimiters[index]!, to)
        part.write(out, to)
        to += part.sizeBytes
      }
      out.write(closing, to)
    },
  }
}
