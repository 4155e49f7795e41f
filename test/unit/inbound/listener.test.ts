import * as assert from 'uvu/assert'
import type { Admit } from '../../../src/inbound/admission.ts'
import { createCrowd } from '../../../src/inbound/crowd.ts'
import { startInboundListener } from '../../../src/inbound/listener.ts'
import { countMail } from '../../../src/inbound/mail-counts.ts'
import { createIdSource } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log.ts'
import { createMetrics } from '../../../src/lib/metrics.ts'
import { StorageUnavailable } from '../../../src/store/command.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { dialSmtp, type SmtpClient } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { testCertificate } from '../../kit/tls.ts'

const test = suite('inbound/listener')
const log = createLog('silent')
const newId = createIdSource()
/** Messages that are taken at the same time, and connections of one address. */
const [MOST_UNDER_WAY, MOST_OF_ONE] = [64, 20]

interface Scripted {
  admit: Admit
  take(): Promise<void>
}

const admitAll: Admit = async recipient => ({
  kind: 'inbox',
  message: { accountId: newId(0), domainId: newId(0) },
  recipient,
})

/** A listener in front of a store that does as the script says; blobs stay nowhere, and are counted. */
async function open(t: TestContext, { admit = admitAll, take = async () => {} }: Partial<Scripted>) {
  const left = { blobs: 0 }
  const metrics = createMetrics()
  const listener = await t.using(
    startInboundListener({
      listen: { host: '127.0.0.1', port: 0 },
      mailHost: 'posthorn.test',
      certificates: { current: () => testCertificate('good'), onChange: () => () => {}, close() {} },
      newPerMinute: 0,
      admit,
      take,
      openBlob() {
        left.blobs += 1
        return {
          write: async () => {},
          async finish() {
            left.blobs -= 1
            return { hash: new Uint8Array(32), sizeBytes: 0, body: null, draft: null }
          },
          async discard() {
            left.blobs -= 1
          },
        }
      },
      crowd: createCrowd(createManualClock()),
      counts: countMail(metrics, 'inbound'),
      clock: createManualClock(),
      log,
    }),
  )
  const { port } = listener.address()
  const greeted = async (from = '127.0.0.1'): Promise<SmtpClient> => {
    const client = await t.using(dialSmtp({ port, from }))
    assert.match(await client.reply(), /^220 /)
    await client.say('EHLO client.example')
    assert.match(await client.say('MAIL FROM:<ann@there.example>'), /^250 /)
    return client
  }
  const inData = async (from?: string) => {
    const client = await greeted(from)
    assert.match(await client.say('RCPT TO:<bob@here.example>'), /^250 /)
    assert.match(await client.say('DATA'), /^354 /)
    return client
  }
  const figures = () => metrics.text().match(/^posthorn_.*/gm)
  return { greeted, inData, left, figures }
}

const finish = (client: SmtpClient, text = 'hello') => client.say(`Subject: one\r\n\r\n${text}\r\n.`)

for (const [what, error, reply] of [
  [
    'for now',
    new StorageUnavailable('the disk is full'),
    '451 4.3.1 Nothing can be stored now, try again later',
  ],
  ['at all', new Error('no such table'), '451 4.3.0 Something is wrong here, try again later'],
] as const)
  test(`a recipient for whom the store cannot be asked ${what} is put off, and then taken`, async t => {
    let isDown = true
    const admit: Admit = address => (isDown ? Promise.reject(error) : admitAll(address))
    const { greeted } = await open(t, { admit })
    const client = await greeted()
    assert.is(await client.say('RCPT TO:<bob@here.example>'), reply)
    assert.match(await client.say('DATA'), /^503 /)
    isDown = false
    assert.match(await client.say('RCPT TO:<bob@here.example>'), /^250 /)
    assert.match(await client.say('DATA'), /^354 /)
    assert.match(await finish(client), /^250 /)
  })

test('a message that cannot be stored is put off, and the connection goes on', async t => {
  let isDown = true
  const { inData } = await open(t, {
    async take() {
      if (isDown) throw new StorageUnavailable('the disk is full')
    },
  })
  const client = await inData()
  assert.is(await finish(client), '452 4.3.1 Nothing can be stored now, try again later')
  isDown = false
  await client.say('MAIL FROM:<ann@there.example>')
  await client.say('RCPT TO:<bob@here.example>')
  await client.say('DATA')
  assert.match(await finish(client), /^250 /)
})

for (const [what, text] of [
  ['a short', 'hello'],
  ['a long', `${'x'.repeat(98)}\r\n`.repeat(20_000)],
] as const)
  test(`${what} message beyond those under way is put off, and taken when there is room`, async t => {
    const { inData, left } = await open(t, {})
    const busy = await Promise.all(
      Array.from({ length: MOST_UNDER_WAY }, (_, i) => inData(`127.0.1.${1 + Math.floor(i / MOST_OF_ONE)}`)),
    )
    const late = await inData('127.0.2.1')
    assert.is(await finish(late, text), '452 4.3.1 Too much at once, try again later')
    assert.is(left.blobs, MOST_UNDER_WAY)
    assert.match(await finish(busy[0]!), /^250 /)
    assert.match(await late.say('MAIL FROM:<ann@there.example>'), /^250 /)
    assert.match(await late.say('RCPT TO:<bob@here.example>'), /^250 /)
    assert.match(await late.say('DATA'), /^354 /)
    assert.match(await finish(late, text), /^250 /)
    assert.is(left.blobs, MOST_UNDER_WAY - 1)
  })

test('all commands that came together are answered, however many they are', async t => {
  const { greeted } = await open(t, {})
  const client = await greeted()
  const count = 20_000
  client.write('NOOP\r\n'.repeat(count))
  for (let i = 0; i < count; i++) assert.is(await client.reply(), '250 OK')
  assert.match(await client.say('RCPT TO:<bob@here.example>'), /^250 /)
  client.write('RSET\r\nMAIL FROM:<ann@there.example>\r\nRCPT TO:<bob@here.example>\r\nDATA\r\n')
  for (const code of [/^250 /, /^250 /, /^250 /, /^354 /]) assert.match(await client.reply(), code)
  client.write('Subject: one\r\n\r\nx\r\n.\r\nNOOP\r\nQUIT\r\n')
  for (const code of [/^250 /, /^250 /, /^221 /]) assert.match(await client.reply(), code)
})

test('what is taken and turned away is counted, by the reply', async t => {
  let isFull = false
  const { greeted, inData, figures } = await open(t, {
    admit: async recipient => (recipient.startsWith('nobody') ? undefined : admitAll(recipient)),
    take: async () => {
      if (isFull) throw new StorageUnavailable('disk full')
    },
  })
  const one = await inData()
  assert.match(await finish(one), /^250 /)
  isFull = true
  assert.match(await finish(await inData()), /^452 4\.3\.1/)
  const stranger = await greeted()
  for (let i = 0; i < 2; i++)
    assert.match(await stranger.say('RCPT TO:<nobody@here.example>'), /^550 5\.7\.1/)
  stranger.write('NOOP\n')
  assert.match(await stranger.reply(), /^421 /)
  assert.equal(figures(), [
    'posthorn_smtp_taken_total{listener="inbound"} 1',
    'posthorn_smtp_refused_total{listener="inbound",code="550",status="5.7.1"} 2',
    'posthorn_smtp_deferred_total{listener="inbound",code="452",status="4.3.1"} 1',
    'posthorn_smtp_deferred_total{listener="inbound",code="421",status="5.5.2"} 1',
  ])
})

test.run()
