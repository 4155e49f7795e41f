import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import PostalMime from 'postal-mime'
import * as assert from 'uvu/assert'
import { type Id, idText, sameId } from '../../../../src/lib/ids.ts'
import type { NoMessage, OutgoingMessage } from '../../../../src/pipeline/delivery/message/message.ts'
import { CORRELATION_HEADER } from '../../../../src/pipeline/delivery/message/signed-head.ts'
import { readRefToken } from '../../../../src/protocols/smtp/verp.ts'
import { mailbox, newId } from '../../../kit/mail.ts'
import { suite } from '../../../kit/suite.ts'
import { keyResolver, openSigned, secrets } from './signed-domain.ts'

const test = suite('message')
const RECIPIENT = { address: 'rcpt@there.test' }

function made(
  message: OutgoingMessage | NoMessage,
): OutgoingMessage & { raw: Buffer; text: string; head: string } {
  if ('reason' in message) throw new Error(message.reason)
  const raw = Buffer.concat(message.bytes)
  const text = raw.toString()
  return { ...message, raw, text, head: text.slice(0, text.indexOf('\r\n\r\n') + 2) }
}

const STORE_SIGNATURES = 'update deliveries set signed_at = ?, signatures = ? where email_id = ?'

const field = (head: string, name: string) =>
  new RegExp(`^${name}:((?:.*\\r\\n)(?:[ \\t].*\\r\\n)*)`, 'im').exec(head)?.[1]?.trim()

test('the message contains what was submitted, as an independent parser reads it', async t => {
  const { send, maker, accountId, verifiedDomain, clock } = await openSigned(t)
  await verifiedDomain('here.test')
  const emailId = await send(accountId, {
    from: 'Änn <ann@here.test>',
    to: ['Bob <bob@there.test>'],
    cc: ['c@far.test'],
    replyTo: [mailbox('r@here.test')],
    subject: 'Grüße 💌',
    html: '<p>Hi</p>',
    text: 'Hi',
    headers: [['X-Mine', 'yes']],
    attachments: [
      { filename: 'ä.txt', contentType: 'text/plain', contentId: null, content: Buffer.from('file') },
    ],
  })
  const { raw, sizeBytes, smtpUtf8 } = made(
    await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now()),
  )
  const read = await PostalMime.parse(raw)
  assert.equal(read.from, { name: 'Änn', address: 'ann@here.test' })
  assert.equal(read.to, [{ name: 'Bob', address: 'bob@there.test' }])
  assert.equal(read.cc, [{ name: '', address: 'c@far.test' }])
  assert.equal(read.replyTo, [{ name: '', address: 'r@here.test' }])
  assert.equal([read.subject, read.html?.trim(), read.text?.trim()], ['Grüße 💌', '<p>Hi</p>', 'Hi'])
  assert.is(read.messageId, `<${idText(emailId)}@here.test>`)
  assert.is(new Date(read.date!).getTime(), Math.floor(clock.now() / 1000) * 1000)
  assert.is(read.attachments[0]!.filename, 'ä.txt')
  assert.is(read.headers.find(({ key }) => key === 'x-mine')?.value, 'yes')
  assert.equal([sizeBytes, smtpUtf8], [raw.length, false])
})

test('the Date of a scheduled message is its scheduled time', async t => {
  const { send, maker, accountId, verifiedDomain, clock } = await openSigned(t)
  await verifiedDomain('here.test')
  const scheduledAt = clock.now() + 3_600_000
  const emailId = await send(accountId, { scheduledAt })
  clock.advance(3_700_000)
  const { raw, dueAt } = made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now()))
  assert.is(dueAt, scheduledAt)
  assert.is(new Date((await PostalMime.parse(raw)).date!).getTime(), Math.floor(scheduledAt / 1000) * 1000)
})

test('the memory of a message counts its files twice, as stored and in base64', async t => {
  const { send, maker, accountId, verifiedDomain, clock } = await openSigned(t)
  await verifiedDomain('here.test')
  const file = { filename: 'a.bin', contentType: 'application/octet-stream', contentId: null }
  const content = Buffer.alloc(3_000_000, 7)
  const large = await send(accountId, { attachments: [{ ...file, content }] })
  const small = await send(accountId)
  const memoryOf = (emailId: Id) => maker.memoryOf({ ...RECIPIENT, accountId, emailId, ordinal: 0 })
  const bytes = await memoryOf(large)
  assert.ok(bytes > 2.3 * content.length && bytes < 2.5 * content.length, `${bytes}`)
  assert.ok((await memoryOf(small)) < 1_000)
  assert.is(await memoryOf(newId(clock.now())), 0, 'an email that is gone')
})

test('Bcc recipients do not appear in the message', async t => {
  const { send, maker, accountId, verifiedDomain, clock } = await openSigned(t)
  await verifiedDomain('here.test')
  const emailId = await send(accountId, { to: ['a@there.test'], bcc: ['secret@hidden.test'] })
  for (const ordinal of [0, 1]) {
    const { text } = made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal }, clock.now()))
    assert.not.match(text, /secret|hidden|^bcc:/im) // signatures may hold the letters
  }
})

test('an email with only Bcc recipients names none', async t => {
  const { send, maker, accountId, verifiedDomain, clock } = await openSigned(t)
  await verifiedDomain('here.test')
  const emailId = await send(accountId, { to: [], bcc: ['secret@hidden.test'] })
  const { head } = made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now()))
  assert.is(field(head, 'To'), undefined)
  assert.is(field(head, 'Cc'), undefined)
})

test('return path and header carry a token that names the delivery', async t => {
  const { send, maker, accountId, verifiedDomain, clock } = await openSigned(t)
  await verifiedDomain('here.test')
  const emailId = await send(accountId, { to: ['a@there.test', 'b@there.test'] })
  for (const ordinal of [0, 1]) {
    const { mailFrom, head } = made(
      await maker.make({ ...RECIPIENT, accountId, emailId, ordinal }, clock.now()),
    )
    const token = /^b\+([a-z2-7]+)@send\.here\.test$/.exec(mailFrom)![1]!
    const verp = readRefToken(secrets, 'verp', token)!
    const correlation = readRefToken(secrets, 'correlation', field(head, CORRELATION_HEADER)!)!
    for (const ref of [verp, correlation]) {
      assert.ok(sameId(ref.emailId, emailId))
      assert.is(ref.ordinal, ordinal)
    }
    assert.is(readRefToken(secrets, 'correlation', token), undefined)
  }
})

test('both keys sign, and an independent verifier accepts both signatures', async t => {
  const { send, maker, accountId, verifiedDomain } = await openSigned(t)
  const domain = await verifiedDomain('here.test')
  const emailId = await send(accountId, { html: '<p>Grüße</p>', text: '.\n..\nFrom here\n' })
  const signedAt = Date.UTC(2024, 1, 29)
  const { raw, signatures, ...rest } = made(
    await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, signedAt),
  )
  const { results } = await dkimVerify(raw, { resolver: keyResolver(domain) })
  assert.equal(
    results.map(({ algo, status }) => `${algo} ${status.result}`),
    ['rsa-sha256 pass', 'ed25519-sha256 pass'],
  )
  assert.is(rest.signedAt, signedAt)
  assert.is(signatures!.length, 2)
  for (const { keyId, bytes } of signatures!) {
    assert.match(keyId, /^key_/)
    assert.ok(rest.head.replace(/\s/g, '').includes(bytes))
  }
})

test('the correlation header is signed and cannot be moved to another message', async t => {
  const { send, maker, accountId, verifiedDomain } = await openSigned(t)
  const domain = await verifiedDomain('here.test')
  const emailId = await send(accountId)
  const { raw } = made(
    await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, Date.UTC(2024, 1, 29)),
  )
  const token = new RegExp(`${CORRELATION_HEADER}: (.)`).exec(raw.toString('latin1'))!
  const forged = Buffer.from(raw)
  forged[token.index + token[0].length - 1]! ^= 2
  const { results } = await dkimVerify(forged, { resolver: keyResolver(domain) })
  assert.ok(results.every(({ status }) => status.result !== 'pass'))
})

test('a key that is not active yet does not sign', async t => {
  const { send, maker, accountId, verifiedDomain, clock } = await openSigned(t)
  await verifiedDomain('here.test', [1])
  const emailId = await send(accountId)
  const { head } = made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now()))
  assert.is(head.match(/^DKIM-Signature:/gim)?.length, 1)
})

test('mail to the simulator from an unverified domain is not signed', async t => {
  const { send, maker, accountId, clock } = await openSigned(t)
  const emailId = await send(accountId, { from: 'you@example.com', to: ['delivered@simulator.test'] })
  const { head, signatures, mailFrom } = made(
    await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now()),
  )
  assert.not.match(head, /DKIM-Signature/i)
  assert.is(signatures, null)
  assert.match(mailFrom, /@send\.example\.com$/)
})

test('all recipients of an email get the same body bytes', async t => {
  const { send, maker, accountId, verifiedDomain, clock } = await openSigned(t)
  await verifiedDomain('here.test')
  const emailId = await send(accountId, { to: ['a@there.test', 'b@there.test', 'c@there.test'] })
  const bodies = []
  for (const ordinal of [0, 1, 2])
    bodies.push(made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal }, clock.now())).bytes[1])
  assert.is(bodies[1], bodies[0])
  assert.is(bodies[2], bodies[0])
})

test('building the same delivery at the same time gives the same message', async t => {
  const { send, maker, accountId, verifiedDomain, clock } = await openSigned(t)
  await verifiedDomain('here.test')
  const attachments = [
    { filename: 'a', contentType: 'text/plain', contentId: null, content: Buffer.alloc(70_000, 'x') },
  ]
  const emailId = await send(accountId, { html: '<p>Hi</p>', attachments })
  const make = async () =>
    made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now())).text
  assert.is(await make(), await make())
})

test('signatures made ahead are used whenever the message is sent', async t => {
  const { send, maker, accountId, verifiedDomain, clock } = await openSigned(t)
  const domain = await verifiedDomain('here.test')
  const emailId = await send(accountId)
  const signedAt = clock.now()
  assert.is(await maker.signAhead({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, signedAt), true)
  assert.is(await maker.signAhead({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, signedAt), false)
  clock.advance(3_600_000)
  const sent = made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now()))
  assert.is(sent.signedAt, signedAt)
  assert.match(sent.head, new RegExp(` t=${Math.floor(signedAt / 1_000)};`))
  const { results } = await dkimVerify(sent.raw, { resolver: keyResolver(domain) })
  assert.equal(
    results.map(({ status }) => status.result),
    ['pass', 'pass'],
  )
})

test('a retry reuses the signatures of the previous attempt', async t => {
  const { send, maker, accountId, verifiedDomain, clock, change } = await openSigned(t)
  await verifiedDomain('here.test')
  const emailId = await send(accountId)
  const first = made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now()))
  change(STORE_SIGNATURES, first.signedAt, JSON.stringify(first.signatures), emailId)
  clock.advance(3_600_000)
  const second = made(
    await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0, attempt: 2 }, clock.now()),
  )
  assert.is(second.text, first.text)
  assert.is(second.signedAt, first.signedAt)
})

test('signatures are made again when keys or message have changed', async t => {
  const { send, maker, accountId, verifiedDomain, clock, keyRing, change } = await openSigned(t)
  await verifiedDomain('here.test')
  const again = async (altered: (signatures: string) => string) => {
    const emailId = await send(accountId)
    const first = made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now()))
    change(STORE_SIGNATURES, first.signedAt, altered(JSON.stringify(first.signatures)), emailId)
    clock.advance(60_000)
    const second = made(
      await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0, attempt: 2 }, clock.now()),
    )
    return second.signedAt > first.signedAt
  }
  assert.is(await again(signatures => signatures), false)
  assert.is(await again(signatures => signatures.replace(/"bytes":"..../, '"bytes":"AAAA')), true)
  assert.is(await again(signatures => JSON.stringify(JSON.parse(signatures).slice(1))), true)
  const emailId = await send(accountId)
  await maker.signAhead({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now())
  change('update dkim_keys set retired_at = ? where slot = 3', clock.now())
  keyRing.forget()
  clock.advance(60_000)
  const { signedAt } = made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now()))
  assert.is(signedAt, clock.now())
})

test('an internationalized address makes the message need SMTPUTF8', async t => {
  const { send, maker, accountId, verifiedDomain, clock } = await openSigned(t)
  await verifiedDomain('here.test')
  const needs = async (submission: object) => {
    const emailId = await send(accountId, submission)
    return made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now())).smtpUtf8
  }
  assert.is(await needs({ to: ['a@there.test'], cc: ['ü@far.test'] }), true)
  assert.is(await needs({ from: 'jürgen@here.test' }), true)
  assert.is(await needs({ to: ['a@bücher.test'] }), false)
  assert.is(await needs({ subject: 'ü' }), false)
})

test('no message is built for a deleted email or domain, with the reason', async t => {
  const { send, maker, accountId, verifiedDomain, domains, account, clock } = await openSigned(t)
  const domain = await verifiedDomain('here.test')
  const emailId = await send(accountId)
  await domains.delete(accountId, domain.id)
  assert.equal(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now()), {
    reason: 'The here.test domain was deleted.',
  })
  const gone = { reason: 'the email is gone' }
  assert.equal(
    await maker.make({ ...RECIPIENT, accountId, emailId: new Uint8Array(16), ordinal: 0 }, clock.now()),
    gone,
  )
  assert.equal(
    await maker.make({ ...RECIPIENT, accountId: account('Other'), emailId, ordinal: 0 }, clock.now()),
    gone,
  )
})

test('emails of a broadcast without personal content share one body with the files', async t => {
  const { send, maker, accountId, verifiedDomain, change, clock, rows } = await openSigned(t)
  await verifiedDomain('here.test')
  const attachments = [
    { filename: 'a', contentType: 'text/plain', contentId: null, content: Buffer.from('first') },
  ]
  const ids = [
    await send(accountId, { attachments }),
    await send(accountId, { attachments, to: ['b@there.test'] }),
  ]
  const bodies = async () => {
    const messages = []
    for (const emailId of ids)
      messages.push(made(await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now())))
    return messages.map(({ bytes }) => bytes[1]!)
  }
  const [first] = rows<{ content_id: number; attachments: string }>(
    'select content_id, attachments from emails order by id limit 1',
  )
  const shares = 'update emails set content_id = ?, attachments = ?, broadcast_id = ?'
  change(shares, first!.content_id, first!.attachments, newId(1))
  const [one, other] = await bodies()
  assert.is(one, other, 'the same octets, once')
  assert.match(`${one}`, Buffer.from('first').toString('base64'))

  // another broadcast has the same content, and other files
  change('delete from blobs')
  const { hash } = JSON.parse(first!.attachments)[0]
  change(
    'insert into blobs (hash, size_bytes, body, refs, created_at) values (?, 6, ?, 1, 0)',
    Buffer.from(hash, 'hex').fill(1),
    Buffer.from('second'),
  )
  const otherFiles = first!.attachments.replaceAll(hash, Buffer.alloc(32, 1).toString('hex'))
  change(shares, first!.content_id, otherFiles, newId(2))
  assert.match(`${(await bodies())[0]}`, Buffer.from('second').toString('base64'))
})

test('missing attachment data is an error', async t => {
  const { send, maker, accountId, verifiedDomain, change, clock } = await openSigned(t)
  await verifiedDomain('here.test')
  const attachments = [
    { filename: 'a', contentType: 'text/plain', contentId: null, content: Buffer.from('a') },
  ]
  const emailId = await send(accountId, { attachments })
  change('delete from blobs')
  await maker.make({ ...RECIPIENT, accountId, emailId, ordinal: 0 }, clock.now()).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /there is no blob/),
  )
})

test.run()
