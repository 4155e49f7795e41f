/**
 * Reuses compression contexts. The runtime creates one per call, which takes twice as long as compressing a
 * few kilobytes.
 */
import type { Transform } from 'node:stream'

/**
 * Undefined for what does not fit, or is damaged; else good until the next call.
 *
 * @param wholeBytes of the output, where the input could end too soon
 */
export type KeptContext = (input: Uint8Array, wholeBytes?: number) => Buffer | undefined

/** What the runtime's streams work with. It is not documented: where it is otherwise, nothing is kept. */
interface Inside {
  _handle: {
    writeSync(
      flush: number,
      input: Uint8Array,
      inputAt: number,
      inputBytes: number,
      output: Uint8Array,
      outputAt: number,
      outputBytes: number,
    ): void
    reset(): void
    onerror: () => void
  }
  /** What was left of the output, and of the input. */
  _writeState: Uint32Array
}

interface KeptOptions {
  /** That the input is whole. */
  flush: number
  /** Of the output; what becomes larger does not fit. */
  mostBytes: number
  /** Is not ready for the next input by itself. */
  resets?: boolean
}

/** @param make a stream of `node:zlib`; another takes its place after what could not be done */
export function keepContext(
  make: () => Transform,
  { flush, mostBytes, resets = false }: KeptOptions,
): KeptContext {
  let output: Buffer | undefined
  let inside: Inside | false | undefined
  let isDamaged = false
  const open = (): Inside | false => {
    const stream = make()
    if (!isAsKnown(stream)) return false
    stream._handle.onerror = () => {
      isDamaged = true
    }
    return stream
  }
  return (input, wholeBytes) => {
    output ??= Buffer.allocUnsafeSlow(mostBytes)
    inside ??= open()
    if (!inside) return undefined
    const { _handle: handle, _writeState: left } = inside
    handle.writeSync(flush, input, 0, input.length, output, 0, mostBytes)
    const [outputLeft, inputLeft] = left as unknown as [number, number]
    const bytes = mostBytes - outputLeft
    if (!isDamaged && outputLeft > 0 && inputLeft === 0 && (wholeBytes ?? bytes) === bytes) {
      if (resets) handle.reset()
      return output.subarray(0, bytes)
    }
    isDamaged = false
    inside = undefined
    return undefined
  }
}

function isAsKnown(stream: object): stream is Inside {
  const { _handle: handle, _writeState: left } = stream as Partial<Inside>
  return typeof handle?.writeSync === 'function' && left instanceof Uint32Array && left.length === 2
}
