/** Client of the control socket: sends operations to the running service. */
import { connect, type Socket } from 'node:net'
import { OperationFailed, OperationRefused } from './operation.ts'
import { type ControlReply, controlPath, readLine } from './protocol.ts'

/** The longest operations take several seconds. */
const LIMIT_MS = 60_000

class StandsStill extends OperationFailed {
  constructor() {
    super(
      `The service did not respond within ${LIMIT_MS / 1_000} s. Check whether it is running and whether the change was made.`,
    )
  }
}

/** Result if nothing listens: the service is not running, or is starting or stopping. */
export const NOT_RUNNING = Symbol('not running')

/**
 * Resolves to the result of the operation, or to `NOT_RUNNING`.
 * @throws OperationRefused, OperationFailed
 */
export async function askService(
  folder: string,
  operation: string,
  input: unknown,
): Promise<unknown | typeof NOT_RUNNING> {
  const path = controlPath(folder)
  const socket = path === undefined ? undefined : await connected(path)
  if (!socket) return NOT_RUNNING
  try {
    socket.write(`${JSON.stringify({ operation, input })}\n`)
    socket.setTimeout(LIMIT_MS, () => socket.destroy(new StandsStill()))
    const line = await readLine(socket).catch(error => {
      if (error instanceof StandsStill) throw error
      return undefined
    })
    if (line === undefined)
      throw new OperationFailed('The service stopped before it responded. Check whether the change was made.')
    return outputOf(JSON.parse(line) as ControlReply)
  } finally {
    socket.destroy()
  }
}

function outputOf(reply: ControlReply): unknown {
  if ('refused' in reply) throw new OperationRefused(reply.refused)
  if ('failed' in reply) throw new OperationFailed(`The operation failed in the service: ${reply.failed}`)
  return reply.output
}

function connected(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(undefined)
      else if (error.code === 'EACCES')
        reject(new OperationRefused('Permission denied: the service runs as another user.'))
      else reject(error)
    })
  })
}
