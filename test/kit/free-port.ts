/** Ports for programs that cannot be asked to take any that is free. */
import { type AddressInfo, createServer } from 'node:net'

/** A TCP port that nobody listened on a moment ago. */
export function freePort(host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
