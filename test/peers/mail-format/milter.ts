/**
 * A milter client: hands messages to a mail filter as an MTA does, octet by octet, and reads the header
 * fields that the filter adds. Speaks version 6 of Sendmail's milter protocol, of which it asks for nothing
 * optional.
 */
import { connect, type Socket } from 'node:net'

const VERSION = 6
/** All changes that a filter may ask to make; it makes them by telling us. */
const ALL_ACTIONS = 0x1ff
const BODY_CHUNK_OCTETS = 65_535
const ADD_HEADER = 'h'
const INSERT_HEADER = 'i'
/** Replies that end a message. */
const FINAL = 'acdrt'
const INSERT_POSITION_OCTETS = 4

interface Packet {
  command: string
  data: Buffer
}

/** Values of the fields of that name that the filter on the Unix socket adds to the message. */
export async function addedFields(socketPath: string, message: Buffer, name: string): Promise<string[]> {
  const socket = connect(socketPath)
  const packets = packetsOf(socket)
  const send = (command: string, ...parts: (string | Buffer)[]) => {
    const data = Buffer.concat(parts.map(part => Buffer.from(part)))
    const head = Buffer.alloc(5)
    head.writeUInt32BE(data.length + 1)
    head.write(command, 4)
    socket.write(Buffer.concat([head, data]))
  }
  const reply = async (): Promise<Packet> => {
    const { value, done } = await packets.next()
    if (done) throw new Error('the filter hung up')
    return value
  }
  const ask = async (command: string, ...parts: (string | Buffer)[]) => {
    send(command, ...parts)
    const answer = await reply()
    if (answer.command !== 'c') throw new Error(`the filter answered ${answer.command} to ${command}`)
  }
  try {
    send('O', uint32(VERSION), uint32(ALL_ACTIONS), uint32(0))
    await reply()
    send('D', 'C', 'j\0mx.there.test\0')
    await ask('C', 'client.test\0', '4', uint16(25), '192.0.2.1\0')
    await ask('M', '<ann@here.test>\0')
    await ask('R', '<bob@there.test>\0')
    const bodyAt = message.indexOf('\r\n\r\n') + 4
    for (const [field, value] of fieldsOf(message.subarray(0, bodyAt - 4)))
      await ask('L', field, '\0', value, '\0')
    await ask('N')
    for (let at = bodyAt; at < message.length; at += BODY_CHUNK_OCTETS)
      await ask('B', message.subarray(at, at + BODY_CHUNK_OCTETS))
    send('E')
    return await readAddedFields(reply, name)
  } finally {
    socket.destroy()
  }
}

async function readAddedFields(reply: () => Promise<Packet>, name: string): Promise<string[]> {
  const values: string[] = []
  for (;;) {
    const { command, data } = await reply()
    if (FINAL.includes(command)) return values
    if (command !== ADD_HEADER && command !== INSERT_HEADER) continue
    const text = data.subarray(command === INSERT_HEADER ? INSERT_POSITION_OCTETS : 0).toString('latin1')
    const [field, value] = text.split('\0')
    if (field!.toLowerCase() === name.toLowerCase()) values.push(value!)
  }
}

/** Filters get values without the blank after the colon, and folds as LF. */
function* fieldsOf(head: Buffer): Generator<[name: Buffer, value: Buffer]> {
  for (const field of head.toString('latin1').split(/\r\n(?![ \t])/)) {
    const colon = field.indexOf(':')
    const value = field
      .slice(colon + 1)
      .replace(/^ /, '')
      .replaceAll('\r\n', '\n')
    yield [Buffer.from(field.slice(0, colon), 'latin1'), Buffer.from(value, 'latin1')]
  }
}

async function* packetsOf(socket: Socket): AsyncGenerator<Packet> {
  let waiting = Buffer.alloc(0)
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    waiting = Buffer.concat([waiting, chunk])
    while (waiting.length >= 4 && waiting.length >= 4 + waiting.readUInt32BE()) {
      const end = 4 + waiting.readUInt32BE()
      yield { command: waiting.toString('latin1', 4, 5), data: waiting.subarray(5, end) }
      waiting = waiting.subarray(end)
    }
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}
