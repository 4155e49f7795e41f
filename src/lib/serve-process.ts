/** Child side of `worker-process.ts`: set-up of a child process that serves calls. */
import { writeFileSync } from 'node:fs'
import { type Callable, type CallChannel, serveCalls } from './worker-rpc.ts'

/**
 * Where memory is short, Linux ends the process with the highest score first: this one rather than the
 * service.
 */
const OOM_SCORE_ADJUSTMENT = '500'

/**
 * Serves calls for as long as the parent lives. Signals that a terminal or a service manager sends to the
 * whole group are the parent's to handle.
 *
 * @param open makes the functions of the data that the parent sent
 */
export function serveProcess<D>(open: (data: D) => Callable): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit())
  if (process.platform === 'linux')
    try {
      writeFileSync('/proc/self/oom_score_adj', OOM_SCORE_ADJUSTMENT)
    } catch {
      // containers may mount /proc read-only; the order in which processes are ended is then the system's
      // choice
    }
  process.once('message', data => {
    const channel: CallChannel = {
      on: (event, listener) => process.on(event === 'close' ? 'disconnect' : 'message', listener),
      postMessage: message => void process.send!(message),
    }
    serveCalls(channel, open(data as D))
    process.send!({ ready: true })
  })
}
