/**
 * A client of the Model Context Protocol over the standard input and output of a server: JSON-RPC, one
 * message a line.
 */
import { createInterface } from 'node:readline'
import { startClient } from './clients.ts'

export interface McpClient {
  /** @throws with the message of an error */
  ask<T>(method: string, params: object): Promise<T>
  close(): Promise<void>
}

interface Message {
  id?: number
  result?: unknown
  error?: { message: string }
}

/** @param path of the server, in an installed package */
export async function openMcp(path: string, env: Record<string, string>): Promise<McpClient> {
  const child = startClient(path, [], env)
  const waiting = new Map<number, (message: Message) => void>()
  const closed = new Promise(done => child.on('close', done))
  createInterface({ input: child.stdout }).on('line', line => {
    const message = JSON.parse(line) as Message
    if (message.id !== undefined) waiting.get(message.id)?.(message)
  })
  child.stderr.resume()
  let requests = 0
  const tell = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const client: McpClient = {
    async ask<T>(method: string, params: object) {
      const id = ++requests
      const answered = new Promise<Message>(done => waiting.set(id, done))
      tell({ id, method, params })
      const { result, error } = await answered
      if (error) throw new Error(error.message)
      return result as T
    },
    async close() {
      child.kill()
      await closed
    },
  }
  const clientInfo = { name: 'mailhorn-test', version: '1' }
  await client.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  tell({ method: 'notifications/initialized' })
  return client
}
