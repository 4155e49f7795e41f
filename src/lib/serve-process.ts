/**
 * Child side of `worker-process.ts`: sets up a child process that serves calls. Called by the entry file of
 * the process.
 */
import { writeFileSync } from 'node:fs'
import { collectorFrom, ownHeap } from './idle-gc.ts'
import { type Callable, type CallChannel, serveCalls } from './worker-rpc.ts'

/**
 * When memory is short, Linux kills the process with the highest score first: this process instead of the
 * service.
 */
const OOM_SCORE_ADJUSTMENT = '500'

/** A job leaves several times its input behind, which the next one would come on top of. */
const GARBAGE_BYTES_MAX = 32 * 1024 * 1024

/** Function that the parent process calls to learn that calls are served. */
export const IS_READY = 'isReady'

/** Function that is called with the pieces of the input before the function that takes them. */
export const ADD_PIECES = 'addPieces'

export interface PiecesBatch {
  /** Pieces of an earlier input that was never read are dropped. */
  isFirst: boolean
  pieces: readonly Uint8Array[]
}

/** Returns the pieces of the input, and holds them no longer. */
export type TakePieces = () => Uint8Array[]

/**
 * Serves calls as long as the parent process lives. Signals that a terminal or a service manager sends to the
 * process group are handled by the parent.
 *
 * @param open creates the functions from the data that the parent sent
 */
export function serveProcess<D>(open: (data: D, takePieces: TakePieces) => Callable): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit())
  if (process.platform === 'linux')
    try {
      writeFileSync('/proc/self/oom_score_adj', OOM_SCORE_ADJUSTMENT)
    } catch {
      // containers may mount /proc read-only; the system then chooses which process it kills first
    }
  const collect = collectorFrom(ownHeap(), GARBAGE_BYTES_MAX)
  process.once('message', data => {
    const channel: CallChannel = {
      on: (event, listener) => process.on(event === 'close' ? 'disconnect' : 'message', listener),
      // A message that cannot be sent has no receiver any more; 'disconnect' follows.
      postMessage: message => void process.send!(message, undefined, undefined, collect),
    }
    const pieces: Uint8Array[] = []
    const takePieces = () => pieces.splice(0)
    const addPieces = async (batch: PiecesBatch) => {
      if (batch.isFirst) pieces.length = 0
      for (const piece of batch.pieces) pieces.push(piece)
    }
    const functions = open(data as D, takePieces)
    serveCalls(channel, { ...functions, [ADD_PIECES]: addPieces, [IS_READY]: async () => {} })
  })
}
