/**
 * The socket of one connection of the scripted MX: what it says, how it misbehaves, and the transcript of
 * both sides.
 */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { FakeMxState } from './fake-mx.ts'
import type { Fault } from './fake-mx-behaviour.ts'

type Ending = 'drop' | 'reset' | 'hang' | 'stall'

const ENDINGS: ReadonlySet<string> = new Set<Ending>(['drop', 'reset', 'hang', 'stall'])

export class FakeMxLine {
  readonly #mx: FakeMxState
  readonly #id: number
  readonly #onData: (chunk: Buffer) => void
  readonly #plainSocket: Socket
  #socket: Socket
  #output = ''
  /** Nothing more is to be read or said. */
  over = false
  secured = false
  readonly clientAddress: string

  constructor(mx: FakeMxState, socket: Socket, id: number, onData: (chunk: Buffer) => void) {
    this.#mx = mx
    this.#plainSocket = socket
    this.#socket = socket
    this.#id = id
    this.clientAddress = socket.remoteAddress ?? ''
    this.#onData = chunk => {
      if (!this.over) onData(chunk)
    }
    this.#listen()
  }

  /** Puts a reply, of several lines where it has CRLF, into the next segment. */
  say(reply: string) {
    for (const line of reply.split('\r\n')) this.note('S', line)
    this.#output += `${reply}\r\n`
  }

  /** Puts text into the next segment that is no reply. */
  inject(text: string) {
    this.#output += text
  }

  async flush() {
    const output = this.#output
    this.#output = ''
    const step = this.#mx.segmentBytes ?? output.length
    for (let at = 0; at < output.length; at += step) {
      if (at > 0) await new Promise(setImmediate)
      if (this.#socket.writable) this.#socket.write(output.slice(at, at + step))
    }
  }

  async misbehave(fault: Fault) {
    if (ENDINGS.has(fault)) return this.end(fault as Ending)
    if (fault === 'garbage') this.say('\u0000\u001b[2J<html>not a reply</html>')
    else if (fault === 'multi-line-64k') this.say(`250-${'x'.repeat(500)}\r\n`.repeat(200).concat('250 end'))
    else this.say(fault)
    if (fault.startsWith('421')) await this.end('drop')
  }

  async end(how: Ending) {
    await this.flush()
    this.over = true
    this.note('-', how)
    if (how === 'drop') this.#socket.destroySoon()
    else if (how === 'reset') this.#plainSocket.resetAndDestroy()
    else if (how === 'stall') this.#socket.pause()
  }

  /** Answers the client's first TLS bytes with `fault`, or with a handshake. */
  startTls(fault: Fault | undefined) {
    this.#socket.off('data', this.#onData)
    if (fault !== undefined) {
      this.#socket.once(
        'data',
        () => void this.misbehave(fault).then(() => this.end(fault === 'hang' ? 'hang' : 'drop')),
      )
      return
    }
    this.#socket.removeAllListeners('end')
    this.secured = true
    const { secureContext } = this.#mx
    const socket = new TLSSocket(this.#socket, { isServer: true, ...(secureContext && { secureContext }) })
    socket.once('secure', () => {
      this.note('-', `${socket.getProtocol()} for ${socket.servername}`)
      this.note('-', `session ${socket.isSessionReused() ? 'resumed' : 'new'}`)
    })
    this.#socket = socket
    this.#listen()
  }

  note(by: 'C' | 'S' | '-', text: string) {
    this.#mx.note(`${this.#id} ${by}: ${text}`)
  }

  violation(text: string) {
    this.note('-', `violation: ${text}`)
    this.#mx.violations.push(text)
  }

  #listen() {
    this.#socket.on('data', this.#onData)
    this.#socket.on('error', error => this.note('-', error.message))
    this.#socket.on('end', () => {
      this.over = true
      this.#socket.end()
    })
    this.#socket.on('close', () => {
      this.over = true
    })
  }
}
