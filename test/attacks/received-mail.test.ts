import * as assert from 'uvu/assert'
import { battery } from './battery.ts'
import type { Field } from './field.ts'
import {
  type Encoding,
  type HostileMail,
  hostileMail,
  manyMessages,
  nested,
  POSITIONS,
  type Position,
  SHAPES,
  type Shape,
} from './hostile-mail.ts'
import { sendHostile } from './mail-client.ts'
import { MIB, pause, scaled } from './scale.ts'

/**
 * Hostile mail that comes in by port 25 and by submission: the process goes on, and all that was acknowledged
 * is listed.
 */
const { attack, soak, run } = battery('hostile mail')

const MIDDLING_BYTES = scaled(20 * MIB)
/** Largest message for port 25, less the overhead that the size limit counts. */
const SIZE_BYTES_MAX = scaled(59 * MIB)
/** Largest message for submission, before it is encoded. */
const SUBMITTED_BYTES = scaled(28 * MIB)
const AT_ONCE = 3
/** For all messages of a row to be listed once the last of them was acknowledged. */
const LISTED_WITHIN_MS = 120_000
const LOOK_EVERY_MS = 250

interface Listed {
  id: string
  parse_error: string | null
  attachments: unknown[]
}

/** All places, the encodings in turn, and the first place at the largest size. */
function mailsOf(shape: Shape, subject: string): HostileMail[] {
  const encoding = (at: number): Encoding => shape.encodings[at % shape.encodings.length]!
  const middling = POSITIONS.map((position: Position, at) =>
    hostileMail(shape, position, encoding(at), MIDDLING_BYTES, subject),
  )
  return [
    ...middling,
    hostileMail(
      shape,
      shape.name.includes('<img>') ? 'text/html' : 'text/plain',
      encoding(0),
      SIZE_BYTES_MAX,
      subject,
    ),
  ]
}

/** Sends them from addresses of their own, a few at once. @returns how many were acknowledged */
async function sendAll(field: Field, mails: readonly HostileMail[]): Promise<number> {
  const waiting = mails.map((mail, at) => ({ mail, from: `127.30.0.${at + 1}` }))
  let taken = 0
  const client = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const envelope = { sender: 'x@there.example', recipient: 'bob@acme.example' }
      const reply = await sendHostile({ port: field.ports.inbound, from: next.from }, envelope, next.mail)
      assert.match(reply, /^250 /, `${next.mail.what}: ${reply || 'the connection ended'}`)
      taken += 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  return taken
}

/**
 * Once so many messages with the subject are listed: each has text or files, or says that it was not read in
 * full.
 */
async function allListed(
  { call, ann }: Field,
  subject: string,
  count: number,
  { isEmpty = false } = {},
): Promise<string> {
  const token = ann.apiKey
  const path = `/inbound?limit=100&q=${encodeURIComponent(subject)}`
  const deadline = performance.now() + LISTED_WITHIN_MS
  let listed: Listed[] = []
  for (;;) {
    listed = (await call('GET', path, { token })).body.data
    if (listed.length >= count) break
    assert.ok(
      performance.now() < deadline,
      `${listed.length} of ${count} are listed after ${LISTED_WITHIN_MS / 1_000} s`,
    )
    await pause(LOOK_EVERY_MS)
  }
  assert.is(listed.length, count)
  for (const { id, parse_error: fault } of listed) {
    const { status, body } = await call('GET', `/inbound/${id}`, { token })
    assert.is(status, 200)
    const hasContent =
      isEmpty || (body.text ?? '') !== '' || (body.html ?? '') !== '' || body.attachments.length > 0
    assert.ok(hasContent || fault !== null, `${id} has no text and no files, and does not say why`)
    assert.not.match(fault ?? '', /thread|signal|process|heap|stack|undefined/i)
  }
  const partly = listed.filter(({ parse_error: fault }) => fault !== null).length
  return `${count} listed${partly > 0 ? `, ${partly} not read in full` : ''}`
}

for (const [number, shape] of SHAPES.entries())
  attack(`mail of ${shape.name}`, async ({ field, note }) => {
    const subject = `shape ${number} of them`
    const taken = await sendAll(field, mailsOf(shape, subject))
    note(await allListed(field, subject, taken, shape))
  })

attack('mail of 900 messages, and of multiparts in each other', async ({ field, note }) => {
  const subject = 'parts and parts'
  const mails = [
    manyMessages(900, MIDDLING_BYTES, subject),
    manyMessages(900, SIZE_BYTES_MAX, subject),
    ...[100, 10_000].map(depth => nested(depth, subject)),
  ]
  note(await allListed(field, subject, await sendAll(field, mails)))
})

attack('the same submitted to a hosted address', async ({ field, note }) => {
  const subject = 'submitted and hosted'
  const shapes = SHAPES.filter(({ name }) => /=41|A=|flowed|hz/.test(name))
  let taken = 0
  for (const shape of shapes) {
    const mail = hostileMail(shape, 'text/html', shape.encodings[0]!, SUBMITTED_BYTES, subject)
    const ours = { ...mail, head: mail.head.replace('ann@there.example', 'eve@eve.example') }
    const envelope = { sender: 'eve@eve.example', recipient: 'bob@acme.example' }
    const listener = { port: field.ports.submissionTls, apiKey: field.eve.apiKey, from: '127.30.1.1' }
    const reply = await sendHostile(listener, envelope, ours)
    assert.match(reply, /^(?:250|55\d) /, `${mail.what}: ${reply || 'the connection ended'}`)
    if (reply.startsWith('250')) taken += 1
  }
  assert.ok(taken > 0, 'nothing was taken')
  note(await allListed(field, subject, taken, { isEmpty: true }))
})

/** Sends an honest message, and waits until it is listed. @returns how long that took */
async function honestListed({ ports, call, ann }: Field, subject: string): Promise<string> {
  const began = performance.now()
  const head = `From: ann@there.example\r\nSubject: ${subject}\r\n\r\nhello\r\n`
  const mail = { what: subject, head, block: Buffer.alloc(0), times: 0, tail: '' }
  const envelope = { sender: 'ann@there.example', recipient: 'bob@acme.example' }
  assert.match(await sendHostile({ port: ports.inbound, from: '127.32.0.1' }, envelope, mail), /^250 /)
  const path = `/inbound?limit=100&q=${encodeURIComponent(subject)}`
  for (;;) {
    const { data } = (await call('GET', path, { token: ann.apiKey })).body
    const elapsedMs = Math.round(performance.now() - began)
    if (data.length > 0) return `the honest one listed after ${elapsedMs} ms`
    assert.ok(elapsedMs < HONEST_LISTED_WITHIN_MS, `not listed after ${elapsedMs} ms`)
    await pause(LOOK_EVERY_MS)
  }
}

/** Header fields that took a time that grew with the square of their length, in messages of about 60 KB. */
const SLOW_FIELDS: [what: string, field: string, piece: string][] = [
  ['blanks in signatures', 'DKIM-Signature: v=1; a=rsa-sha256; d=there.example; s=s; h=from; bh=a; b=', ' '],
  ['blanks in seals', 'ARC-Seal: i=1; cv=none; a=rsa-sha256; d=there.example; s=s; b=', ' '],
  ['empty folded lines', 'Subject: ', '\r\n '],
  ['folded lines', 'Subject: ', 'x\r\n '],
  ['empty results in ARC', 'ARC-Authentication-Results: i=1; ', ';;a'],
]
const SLOW_EACH = 30
const HONEST_LISTED_WITHIN_MS = 10_000

for (const [what, field, piece] of SLOW_FIELDS)
  attack(`${SLOW_EACH} messages of ${what}, and one that is honest`, async ({ field: at, note }) => {
    const block = Buffer.from(piece.repeat(Math.floor((60 * 1024) / piece.length)))
    const mail = { what, head: `From: a@there.example\r\n${field}`, block, times: 1, tail: 'x\r\n\r\nx\r\n' }
    const envelope = { sender: 'x@there.example', recipient: 'bob@acme.example' }
    for (let i = 0; i < SLOW_EACH; i++) {
      const reply = await sendHostile({ port: at.ports.inbound, from: `127.31.0.${1 + i}` }, envelope, mail)
      assert.match(reply, /^250 /, reply)
    }
    note(await honestListed(at, `honest beside ${what}`))
  })

const SILENT_COUNT = 1_500
const SILENT_NETWORKS = 50
const SILENT_AT_ONCE = 200

attack(
  `${SILENT_COUNT} messages from domains with silent name servers, and one that is honest`,
  async ({ field, note }) => {
    const domains = Array.from({ length: SILENT_COUNT }, (_, i) => `silent${i}.silent.example`)
    for (const domain of domains) field.zone.add(`${domain} TIMEOUT\n_dmarc.${domain} TIMEOUT`)
    const waiting = [...domains.entries()]
    const client = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [i, domain] = next
        const head = `From: a@${domain}\r\nSubject: silent\r\n\r\nx\r\n`
        const mail = { what: 'silent name servers', head, block: Buffer.alloc(0), times: 0, tail: '' }
        const envelope = { sender: `a@${domain}`, recipient: 'bob@acme.example' }
        const from = `127.33.${i % SILENT_NETWORKS}.1`
        assert.match(await sendHostile({ port: field.ports.inbound, from }, envelope, mail), /^250 /)
      }
    }
    await Promise.all(Array.from({ length: SILENT_AT_ONCE }, client))
    note(await honestListed(field, 'honest beside silent name servers'))
  },
)

attack(
  'a kill while hostile mail is being read',
  async ({ field, note }) => {
    const subject = 'killed while it is read'
    const mails = SHAPES.slice(0, 3).map(shape =>
      hostileMail(shape, 'text/html', shape.encodings[0]!, MIDDLING_BYTES, subject),
    )
    const taken = await sendAll(field, mails)
    await field.killAndStart()
    note(await allListed(field, subject, taken, { isEmpty: true }))
  },
  { kinds: [] },
)

soak()
run()
