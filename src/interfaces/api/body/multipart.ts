/** Reads multipart forms with files as a stream (RFC 7578, RFC 2046 §5.1.1). Parts are not buffered. */
import { ApiError } from '../api-error.ts'

interface FormPart {
  name: string
  /** Whether the part has a file name. */
  isFile: boolean
}

/** Receives the content of a part piece by piece. */
type TakePiece = (piece: Uint8Array) => Promise<void> | void

const PARTS_MAX = 50
const HEAD_BYTES_MAX = 16 * 1024
const LINE_END = '\r\n'

/** Returns the boundary of a content type, or undefined if it is not a multipart form. */
export function boundaryOf(contentType: string | undefined): string | undefined {
  const found = /^multipart\/form-data\b.*;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType ?? '',
  )
  return found?.[1] ?? found?.[2]
}

/**
 * @param take called for each part in order; returns undefined to skip the part
 * @throws ApiError 400 for a malformed or truncated form, and the errors of the stream and of `take`
 */
export async function readMultipart(
  bytes: AsyncIterable<Uint8Array>,
  boundary: string,
  take: (part: FormPart) => TakePiece | undefined,
): Promise<void> {
  const delimiter = Buffer.from(`${LINE_END}--${boundary}`)
  let state: 'body' | 'head' | 'done' = 'body'
  let takePiece: TakePiece | undefined
  let partCount = 0
  // the first delimiter may be at the very beginning, without a preceding line break
  let rest: Buffer = Buffer.from(LINE_END)
  for await (const chunk of bytes) {
    if (state === 'done') continue
    rest = Buffer.concat([rest, chunk])
    for (let goesOn = true; goesOn; ) {
      if (state === 'head') {
        const end = rest.indexOf(LINE_END + LINE_END)
        if (end < 0 && rest.length > HEAD_BYTES_MAX)
          throw malformed(`A part of the form has more than ${HEAD_BYTES_MAX} bytes of header fields.`)
        goesOn = end >= 0
        if (!goesOn) break
        if (++partCount > PARTS_MAX) throw malformed(`The form has more than ${PARTS_MAX} parts.`)
        takePiece = take(partOf(rest.toString('utf8', 0, end)))
        rest = rest.subarray(end + 2 * LINE_END.length)
        state = 'body'
      }
      const found = rest.indexOf(delimiter)
      const tail = found + delimiter.length
      const isWhole = found >= 0 && rest.length >= tail + 2
      const ready = found >= 0 ? found : Math.max(0, rest.length - delimiter.length + 1)
      if (ready > 0) await takePiece?.(rest.subarray(0, ready))
      rest = rest.subarray(isWhole ? tail : ready)
      goesOn = isWhole
      if (isWhole) state = rest.toString('latin1', 0, 2) === '--' ? 'done' : 'head'
      if (state === 'done') break
    }
  }
  if (state !== 'done') throw malformed('The form is truncated: the closing boundary is missing.')
}

/** @param head text after the boundary: the rest of its line and the header fields of the part */
function partOf(head: string): FormPart {
  const disposition = /^content-disposition:[ \t]*form-data\b(.*)$/im.exec(head)?.[1] ?? ''
  const name = /;\s*name="([^"]*)"/i.exec(disposition)?.[1]
  if (name === undefined)
    throw malformed('A part of the form has no `name` in its Content-Disposition header.')
  return { name, isFile: /;\s*filename\*?=/i.test(disposition) }
}

function malformed(message: string): ApiError {
  return new ApiError(400, 'validation_error', message)
}
