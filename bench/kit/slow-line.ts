/**
 * A line to a distant host, in a process of its own: what comes in at one end leaves at the other half a
 * round trip later, in both directions, as much at a time as there is.
 */
import { connect, createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type RunningProcess, startProcess } from './process.ts'

interface End {
  host: string
  port: number
}

interface Line {
  /** Address on which the line accepts clients. */
  from: End
  to: End
  roundTripMs: number
}

export function startSlowLine({ from, to, roundTripMs }: Line): Promise<RunningProcess> {
  const args = [from.host, from.port, to.host, to.port, roundTripMs].map(String)
  return startProcess(process.execPath, [fileURLToPath(import.meta.url), ...args], { readyPort: from })
}

/**
 * A client is connected at once, where it would wait for a round trip: the first word of the host comes so
 * much later, which is when it would have come.
 */
function carry({ to, roundTripMs }: Line, client: Socket) {
  const half = roundTripMs / 2
  const host = connect({ ...to, noDelay: true })
  let connectsUntil = performance.now() + roundTripMs + half
  pass(client, host, () => half)
  pass(host, client, () => {
    const extra = Math.max(0, connectsUntil - performance.now())
    if (extra === 0) connectsUntil = 0
    return half + extra
  })
}

/** Passes chunks on after their delay. Late timers do not change their order. */
function pass(from: Socket, to: Socket, delayOf: () => number) {
  let last = Promise.resolve()
  const later = (act: () => void) => {
    const due = new Promise<void>(resolve => setTimeout(resolve, delayOf()))
    last = Promise.all([last, due]).then(() => {
      if (!to.destroyed) act()
    })
  }
  from.on('data', chunk => later(() => to.write(chunk)))
  from.on('end', () => later(() => to.end()))
  from.on('error', () => later(() => to.destroy()))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [host, port, toHost, toPort, roundTripMs] = process.argv.slice(2)
  const from = { host: host!, port: Number(port) }
  const to = { host: toHost!, port: Number(toPort) }
  const line = { from, to, roundTripMs: Number(roundTripMs) }
  createServer({ noDelay: true, allowHalfOpen: true }, client => carry(line, client)).listen(
    from.port,
    from.host,
  )
}
