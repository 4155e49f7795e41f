/** Ports for programs that cannot be asked to take any that is free. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that the system gives away by itself, to other tests and to every connection. */
const FIRST = 10_240
const LAST = 32_000

/** A TCP port that nobody listened on a moment ago. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST)
    const server = createServer()
    server.listen(port, host)
    try {
      await once(server, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue
      throw error
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
