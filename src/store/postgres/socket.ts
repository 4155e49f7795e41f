/**
 * Socket of a PostgreSQL connection. It batches the writes of one event-loop turn, so that the server wakes
 * up once.
 */
import { Socket } from 'node:net'

/** For the client's option `stream`. */
export function gatheringSocket(): Socket {
  const socket = new Socket()
  const write = socket.write.bind(socket)
  let isGathering = false
  const gather = () => {
    if (isGathering) return
    isGathering = true
    socket.cork()
    process.nextTick(() => {
      isGathering = false
      socket.uncork()
    })
  }
  socket.write = ((...args: Parameters<Socket['write']>) => {
    gather()
    return write(...args)
  }) as Socket['write']
  return socket
}
