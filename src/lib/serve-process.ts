/**
 * Child side of `worker-process.ts`: sets up a child process that serves calls. Called by the entry file of
 * the process.
 */
import { writeFileSync } from 'node:fs'
import { type Callable, type CallChannel, serveCalls } from './worker-rpc.ts'

/**
 * When memory is short, Linux kills the process with the highest score first: this process instead of the
 * service.
 */
const OOM_SCORE_ADJUSTMENT = '500'

/** Function that the parent process calls to learn that calls are served. */
export const IS_READY = 'isReady'

/**
 * Serves calls as long as the parent process lives. Signals that a terminal or a service manager sends to the
 * process group are handled by the parent.
 *
 * @param open creates the functions from the data that the parent sent
 */
export function serveProcess<D>(open: (data: D) => Callable): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit())
  if (process.platform === 'linux')
    try {
      writeFileSync('/proc/self/oom_score_adj', OOM_SCORE_ADJUSTMENT)
    } catch {
      // containers may mount /proc read-only; the system then chooses which process it kills first
    }
  process.once('message', data => {
    const channel: CallChannel = {
      on: (event, listener) => process.on(event === 'close' ? 'disconnect' : 'message', listener),
      // A message that cannot be sent has no receiver any more; 'disconnect' follows.
      postMessage: message => void process.send!(message, undefined, undefined, () => {}),
    }
    serveCalls(channel, { ...open(data as D), [IS_READY]: async () => {} })
  })
}
