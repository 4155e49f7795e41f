/** Entities: the parts a body is made of, measured first and then written into one buffer (RFC 2046 §5.1). */
import { type HeaderField, serializeFields } from '../smtp/header-field.ts'
import { withParameters } from './parameters.ts'

export interface Entity {
  readonly fields: readonly HeaderField[]
  readonly sizeBytes: number
  /** Writes `sizeBytes` octets from `position` on. */
  write(out: Buffer, position: number): void
}

/** An entity whose content is encoded already. */
export function leaf(fields: readonly HeaderField[], content: Uint8Array): Entity {
  return { fields, sizeBytes: content.length, write: (out, position) => out.set(content, position) }
}

/**
 * `multipart/<subtype>` of at least one part.
 *
 * @param boundary must occur in no part, and the boundaries of inner multiparts must not begin with it
 * @param parameters further ones, beside `boundary`
 */
export function multipart(
  subtype: string,
  boundary: string,
  parts: readonly Entity[],
  parameters: readonly string[] = [],
): Entity {
  const delimiters = parts.map((part, position) =>
    Buffer.concat([
      Buffer.from(`${position === 0 ? '' : '\r\n'}--${boundary}\r\n`),
      serializeFields(part.fields),
      Buffer.from('\r\n'),
    ]),
  )
  const closing = Buffer.from(`\r\n--${boundary}--\r\n`)
  let sizeBytes = closing.length
  for (const [position, part] of parts.entries()) sizeBytes += delimiters[position]!.length + part.sizeBytes
  const type = withParameters('Content-Type', `multipart/${subtype}`, [
    ...parameters,
    `boundary="${boundary}"`,
  ])
  return {
    fields: [{ name: 'Content-Type', value: type }],
    sizeBytes,
    write(out, position) {
      let to = position
      for (const [index, part] of parts.entries()) {
        to += delimiters[index]!.copy(out, to)
        part.write(out, to)
        to += part.sizeBytes
      }
      closing.copy(out, to)
    },
  }
}
