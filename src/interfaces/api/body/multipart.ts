/** Reads multipart forms with files as a stream (RFC 7578, RFC 2046 §5.1.1). Parts are not buffered. */
import { JoinedBytes } from '../../../lib/joined-bytes.ts'
import { ApiError } from '../api-error.ts'

interface FormPart {
  name: string
  /** Whether the part has a file name. */
  isFile: boolean
  /** Null for a part without one. */
  fileName: string | null
}

/** Receives the content of a part piece by piece. */
type TakePiece = (piece: Uint8Array) => Promise<void> | void

const PARTS_MAX = 50
const HEAD_BYTES_MAX = 16 * 1024
const LINE_END = '\r\n'
const HEAD_END = LINE_END + LINE_END
const NOTHING = Buffer.alloc(0)

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
  bytes: AsyncIterable<Buffer>,
  boundary: string,
  take: (part: FormPart) => TakePiece | undefined,
): Promise<void> {
  const delimiter = Buffer.from(`${LINE_END}--${boundary}`)
  let state: 'body' | 'head' | 'done' = 'body'
  let takePiece: TakePiece | undefined
  let partCount = 0
  // the first delimiter may be at the very beginning, without a preceding line break
  let rest: Buffer = Buffer.from(LINE_END)
  /** Bytes of the incomplete head of a part, which are searched once. */
  const head = new JoinedBytes()
  for await (const chunk of bytes) {
    if (state === 'done') continue
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (let goesOn = true; goesOn; ) {
      if (state === 'head') {
        const from = Math.max(0, head.length - HEAD_END.length + 1)
        head.add(rest)
        rest = NOTHING
        const end = head.view().indexOf(HEAD_END, from)
        if (end < 0 && head.length > HEAD_BYTES_MAX)
          throw malformed(`A part of the form has more than ${HEAD_BYTES_MAX} bytes of header fields.`)
        if (end < 0) break
        if (++partCount > PARTS_MAX) throw malformed(`The form has more than ${PARTS_MAX} parts.`)
        takePiece = take(partOf(head.view().toString('utf8', 0, end)))
        rest = head.take().subarray(end + HEAD_END.length)
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
  const fileName = /;\s*filename="([^"]*)"/i.exec(disposition)?.[1] ?? null
  return { name, isFile: /;\s*filename\*?=/i.test(disposition), fileName }
}

function malformed(message: string): ApiError {
  return new ApiError(400, 'validation_error', message)
}
