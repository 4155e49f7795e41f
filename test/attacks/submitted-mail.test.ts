import * as assert from 'uvu/assert'
import { battery } from './battery.ts'
import type { Field } from './field.ts'
import { KINDS } from './honest-protocol.ts'
import { type HostileMail, hostileMail, SHAPES } from './hostile-mail.ts'
import { sendHostile } from './mail-client.ts'
import { MIB, pause, scaled } from './scale.ts'

/**
 * Large mail that is hard to read, submitted by one account: it is taken or refused for good, never put off,
 * since clients repeat for days what is put off. Small mail of other accounts, and of a second client of the
 * same account, is taken meanwhile.
 */
const { attack, soak, run } = battery('submission')

const WITH_SECOND_CLIENT = { kinds: [...KINDS, 'second submission' as const] }
const SIZE_BYTES_MAX = scaled(38 * MIB)
/**
 * One account may have so much on its way at once; a message that finds no room is taken when it is tried
 * again.
 */
const NO_ROOM = '452 4.3.1'
const RETRY_AFTER_MS = 1_000
const DECIDED = /^(?:250|55\d) /

async function submit(field: Field, mail: HostileMail, from = '127.60.0.1'): Promise<string> {
  const ours = { ...mail, head: mail.head.replace('ann@there.example', 'eve@eve.example') }
  const envelope = { sender: 'eve@eve.example', recipient: 'delivered@simulator.test' }
  const listener = { port: field.ports.submissionTls, apiKey: field.eve.apiKey, from }
  const began = performance.now()
  let reply = await sendHostile(listener, envelope, ours)
  while (reply.startsWith(NO_ROOM)) {
    await pause(RETRY_AFTER_MS)
    reply = await sendHostile(listener, envelope, ours)
  }
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  assert.match(reply, DECIDED, `${mail.what}: ${reply || 'the connection ended'} after ${seconds} s`)
  return `${reply.slice(0, 3)} after ${seconds} s`
}

const shapeOf = (name: string) => SHAPES.find(shape => shape.name === name)!

for (const size of [2, 5, 10, 20, 38])
  attack(
    `one line of ${size} MB`,
    async ({ field, note }) => {
      const sizeBytes = scaled(size * MIB)
      note(
        await submit(field, hostileMail(shapeOf('one long line'), 'text/plain', '8bit', sizeBytes, 'a line')),
      )
    },
    WITH_SECOND_CLIENT,
  )

for (const name of [
  'base64 A=',
  'quoted-printable =41',
  'soft line breaks',
  'a million <img>',
  'format=flowed blank lines',
])
  attack(
    `38 MB of ${name}`,
    async ({ field, note }) => {
      const shape = shapeOf(name)
      note(await submit(field, hostileMail(shape, 'text/html', shape.encodings[0]!, SIZE_BYTES_MAX, name)))
    },
    WITH_SECOND_CLIENT,
  )

attack(
  'four clients of one account with 38 MB each, again and again',
  async ({ field, note }) => {
    const shapes = ['base64 A=', 'one long line', 'quoted-printable =41', 'a million <img>'].map(shapeOf)
    const replies = await Promise.all(
      shapes.map((shape, at) =>
        submit(
          field,
          hostileMail(shape, 'text/html', shape.encodings[0]!, SIZE_BYTES_MAX, 'four'),
          `127.60.1.${at + 1}`,
        ),
      ),
    )
    note(replies.join(', '))
  },
  WITH_SECOND_CLIENT,
)

soak()
run()
