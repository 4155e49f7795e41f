/** An SMTP client that says what it is told, byte by byte, and hands back what it hears. */
import { connect as connectSocket, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'

export interface SmtpClient {
  /** The next reply, its lines joined by LF; empty when the connection ended. */
  reply(): Promise<string>
  /** Says a line and waits for the reply. */
  say(line: string): Promise<string>
  /** Bytes as they are. */
  write(bytes: string | Uint8Array): void
  startTls(options?: ConnectionOptions): Promise<TLSSocket>
  /** Closes our side; the other may still talk. */
  end(): void
  close(): Promise<void>
}

/** @param options.from our own address */
export async function dialSmtp(options: { port: number; host?: string; from?: string }): Promise<SmtpClient> {
  const { port, host = '127.0.0.1', from: localAddress } = options
  const own = localAddress === undefined ? {} : { localAddress }
  let socket: Socket = connectSocket({ port, host, allowHalfOpen: true, ...own })
  let heard = ''
  let ended = false
  let wake = () => {}
  const listen = () => {
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      heard += text
      wake()
    })
    socket.on('error', () => {}) // the end tells
    socket.on('end', () => {
      ended = true
      wake()
    })
    socket.on('close', () => {
      ended = true
      wake()
    })
  }
  listen()
  const reply = async () => {
    for (;;) {
      const found = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\n/.exec(heard)
      if (found) {
        heard = heard.slice(found[0].length)
        return found[0].trimEnd().replaceAll('\r', '')
      }
      if (ended) return ''
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
  }
  return {
    reply,
    say(line) {
      socket.write(`${line}\r\n`)
      return reply()
    },
    write: bytes => void socket.write(bytes),
    async startTls(more = {}) {
      const plain = socket
      plain.removeAllListeners()
      const secure = connectTls({ socket: plain, rejectUnauthorized: false, ...more })
      await new Promise<void>((resolve, reject) => {
        secure.once('secureConnect', resolve)
        secure.once('error', reject)
      })
      socket = secure
      listen()
      return secure
    },
    end: () => void socket.end(),
    close: () =>
      new Promise(resolve => {
        if (socket.destroyed) return resolve()
        socket.once('close', () => resolve())
        return socket.destroy()
      }),
  }
}

export interface Mail {
  from?: string
  to: string | readonly string[]
  /** Without the dot at the end; LF alone ends its lines. */
  data: string
}

/** Sends one mail in a connection of its own. @returns the first negative reply, or that to the final dot */
export async function sendMail(
  server: { port: number; host?: string },
  { from = '', to, data }: Mail,
): Promise<string> {
  const client = await dialSmtp(server)
  try {
    const lines = [
      'EHLO client.example',
      `MAIL FROM:<${from}>`,
      ...[to].flat().map(one => `RCPT TO:<${one}>`),
      'DATA',
    ]
    await client.reply()
    for (const line of lines) {
      const reply = await client.say(line)
      if (/^[45]/.test(reply)) return reply
    }
    client.write(data.replace(/\r?\n/g, '\r\n').replace(/^\./gm, '..'))
    return await client.say('\r\n.')
  } finally {
    await client.close()
  }
}
