/** Connects to an SMTP server and reads the first line of its greeting. */
import { connect } from 'node:net'
import type { Clock } from '../../lib/clock.ts'

const LIMIT_MS = 8_000
const SIZE_BYTES_MAX = 1_024

/**
 * @returns the first line of the greeting
 * @throws Error if the server sends none
 */
export function greetingOf(host: string, port: number, clock: Clock, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = ''
    const socket = connect({ host, port, noDelay: true })
    const end = (settle: () => void) => {
      timer.cancel()
      signal.removeEventListener('abort', onAbort)
      socket.destroy()
      settle()
    }
    const fail = (reason: string) => end(() => reject(new Error(reason)))
    const onAbort = () => fail('timed out')
    const timer = clock.timer(LIMIT_MS, () => fail(`nothing within ${LIMIT_MS / 1_000} s`))
    signal.addEventListener('abort', onAbort)
    socket.setEncoding('latin1')
    socket.on('error', error => fail(error.message))
    socket.on('close', () => fail('connection closed'))
    socket.on('data', (chunk: string) => {
      heard += chunk
      if (!heard.includes('\n') && heard.length < SIZE_BYTES_MAX) return
      socket.write('QUIT\r\n')
      end(() =>
        resolve(
          heard
            .split('\n')[0]!
            .replace(/[^ -~]/g, '')
            .slice(0, 200),
        ),
      )
    })
  })
}
