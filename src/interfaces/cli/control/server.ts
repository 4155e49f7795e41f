/**
 * Server of the control socket in the running service. It executes the operations that the command line
 * requests.
 */
import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import type { Log } from '../../../lib/log.ts'
import { type OperationContext, OperationRefused } from './operation.ts'
import { carryOut } from './operations.ts'
import { type ControlReply, type ControlRequest, controlPath, readLine } from './protocol.ts'

export interface ControlServer {
  /** Stops accepting operations and waits for those in progress. */
  close(): Promise<void>
}

interface ControlServerOptions {
  /** Data folder, whose lock the caller holds. */
  folder: string
  context: OperationContext
  log: Log
}

const CONNECTIONS_MAX = 16
/** Time for a client to send its request, and to read the reply. */
const TRANSFER_MS_MAX = 10_000
/** umask that denies access to other users. */
const OWNER_ONLY = 0o177

export async function startControlServer({
  folder,
  context,
  log,
}: ControlServerOptions): Promise<ControlServer> {
  const path = controlPath(folder)
  if (path === undefined) {
    log.warn(
      { event: 'control_socket_path_too_long', folder },
      'The path of `data_dir` is too long for a control socket; the command line cannot reach the service',
    )
    return { close: async () => {} }
  }
  const inProgress = new Set<Promise<void>>()
  const server = createServer({ allowHalfOpen: true }, socket => {
    const serving = serve(socket, context, log)
      .catch(error => {
        log.error(
          { event: 'control_connection_failed', err: error },
          'The command line could not be answered',
        )
        socket.destroy()
      })
      .finally(() => inProgress.delete(serving))
    inProgress.add(serving)
  })
  server.maxConnections = CONNECTIONS_MAX
  rmSync(path, { force: true }) // a process that was killed leaves its socket behind
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    const mask = process.umask(OWNER_ONLY)
    server.listen(path, resolve) // the socket exists when this call returns
    process.umask(mask)
  })
  server.on('error', error =>
    log.error({ event: 'control_socket_failed', err: error }, 'The control socket failed'),
  )
  return {
    async close() {
      const closed = new Promise(resolve => server.close(resolve))
      await Promise.all(inProgress)
      await closed
    },
  }
}

async function serve(socket: Socket, context: OperationContext, log: Log): Promise<void> {
  const limit = () => context.clock.timer(TRANSFER_MS_MAX, () => socket.destroy())
  socket.on('error', error =>
    log.debug({ event: 'control_connection_failed', err: error }, 'A connection of the command line failed'),
  )
  const readLimit = limit()
  const line = await readLine(socket).catch(() => undefined)
  readLimit.cancel()
  if (line === undefined) return void socket.destroy()
  const reply = await answer(line, context, log)
  // The callback comes in any case, with an error when the client has gone.
  const replyLimit = limit()
  await new Promise<void>(resolve => socket.end(`${JSON.stringify(reply)}\n`, () => resolve()))
  replyLimit.cancel()
  socket.destroy()
}

async function answer(line: string, context: OperationContext, log: Log): Promise<ControlReply> {
  const request = readRequest(line)
  if (!request) return { refused: 'The request is malformed.' }
  const { operation, input } = request
  try {
    const output = await carryOut(context, operation, input)
    log.info({ event: 'cli_operation_done', operation }, `The command line ran ${operation}`)
    return { output }
  } catch (error) {
    if (error instanceof OperationRefused) return { refused: error.message }
    log.error(
      { event: 'cli_operation_failed', err: error, operation },
      `The command line failed to run ${operation}`,
    )
    return { failed: (error as Error).message }
  }
}

function readRequest(line: string): ControlRequest | undefined {
  try {
    const { operation, input } = JSON.parse(line) as Partial<ControlRequest>
    return typeof operation === 'string' ? { operation, input } : undefined
  } catch {
    return undefined // answers with a refusal
  }
}
