/**
 * Sends messages of any size over SMTP without having them in memory, and speaks SMTP line by line over plain
 * TCP or TLS.
 */
import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import type { HostileMail } from './hostile-mail.ts'

export interface Listener {
  port: number
  from?: string
  /** TLS from the first byte, and a login with this API key. */
  apiKey?: string
}

export interface Envelope {
  sender: string
  recipient: string
}

/** @returns the reply to the final dot, or the first negative one; empty when the connection ended */
export async function sendHostile(
  listener: Listener,
  { sender, recipient }: Envelope,
  mail: HostileMail,
): Promise<string> {
  const line = await dialLine(listener)
  try {
    const login = Buffer.from(`\0resend\0${listener.apiKey}`).toString('base64')
    const lines = [
      ...(listener.apiKey === undefined ? [] : [`AUTH PLAIN ${login}`]),
      ...[`MAIL FROM:<${sender}>`, `RCPT TO:<${recipient}>`, 'DATA'],
    ]
    await line.reply()
    for (const command of ['EHLO attacker.example', ...lines]) {
      const reply = await line.say(command)
      if (!/^[23]/.test(reply)) return reply
    }
    await line.write(mail.head)
    for (let at = 0; at < mail.times && line.isOpen(); at++) await line.write(mail.block)
    await line.write(mail.tail)
    return await line.say('.')
  } finally {
    line.close()
  }
}

export interface Line {
  /** The next reply; empty when the connection ended. */
  reply(): Promise<string>
  say(command: string): Promise<string>
  /** Resolves when there is room for more. */
  write(bytes: string | Uint8Array): Promise<void>
  isOpen(): boolean
  close(): void
}

export async function dialLine({ port, from, apiKey }: Listener): Promise<Line> {
  const where = { port, host: '127.0.0.1', ...(from !== undefined && { localAddress: from }) }
  const socket: Socket =
    apiKey === undefined
      ? connect(where)
      : connectTls({ ...where, rejectUnauthorized: false } as ConnectionOptions)
  let heard = ''
  let wake = () => {}
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    heard += text
    wake()
  })
  socket.on('error', () => {}) // the end tells
  socket.on('close', () => wake())
  const reply = async (): Promise<string> => {
    for (;;) {
      const found = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\n/.exec(heard)
      if (found) {
        heard = heard.slice(found[0].length)
        return found[0].trimEnd().replaceAll('\r', '')
      }
      if (socket.closed) return ''
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
  }
  const isOpen = () => socket.writable && !socket.closed
  return {
    ...{ reply, isOpen },
    say(command) {
      if (isOpen()) socket.write(`${command}\r\n`)
      return reply()
    },
    async write(bytes) {
      if (!isOpen() || socket.write(bytes)) return
      await new Promise<void>(resolve => {
        const settle = () => {
          socket.off('drain', settle).off('close', settle)
          resolve()
        }
        socket.on('drain', settle).on('close', settle)
      })
    },
    close: () => void socket.destroy(),
  }
}
