import * as assert from 'uvu/assert'
import { createLocalDelivery } from '../../../../src/pipeline/delivery/local-delivery.ts'
import type { OutgoingMessage } from '../../../../src/pipeline/delivery/message/message.ts'
import { createBlobReservations } from '../../../../src/store/blobs/reservations.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('local delivery')
const NOW = Date.UTC(2026, 10, 22, 1, 2, 3)

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const domain = { accountId: post.account(), id: newId(1) }
  const reservations = createBlobReservations({
    ...store,
    onLeftBehind: error => assert.unreachable(String(error)),
  })
  const deliverLocally = createLocalDelivery({ ...store, reservations, localName: 'mailhorn.test' })
  const failing = createLocalDelivery({
    ...{ ...store, reservations, localName: 'mailhorn.test' },
    run: () => Promise.reject(new StorageUnavailable('disk full')),
  })
  return { ...store, domain, deliverLocally, failing }
}

const delivery = (over = {}) => ({
  emailId: newId(1),
  ordinal: 0,
  accountId: newId(1),
  address: 'bob@here.test',
  domain: 'here.test',
  class: DELIVERY_CLASS.transactional,
  simulated: 0 as const,
  attempt: 1,
  expiresAt: 0,
  ...over,
})

const messageOf = (head: string, body = 'hello\r\n'): OutgoingMessage => ({
  mailFrom: 'b+token@send.there.test',
  bytes: [Buffer.from(`${head}\r\n\r\n`), Buffer.from(body)],
  sizeBytes: head.length + 4 + body.length,
  ...{ smtpUtf8: false, tls: 'any', dueAt: 0, signedAt: 0, signatures: null },
})

test('the message is stored in the inbox with a Received field', async t => {
  const { deliverLocally, domain, rows } = await open(t)
  const reply = await deliverLocally(delivery(), domain, messageOf('Subject: a'), NOW)
  assert.equal(reply, {
    code: 250,
    enhanced: '2.0.0',
    text: 'handed over to the inbox of here.test on this server, over no network',
  })
  const [row] = rows<{ recipients: string; sender: string; client_ip: null; body: Uint8Array }>(
    'select recipients, sender, client_ip, body from inbound_messages join blobs on hash = raw_hash',
  )
  assert.equal(
    [row!.recipients, row!.sender, row!.client_ip],
    ['["bob@here.test"]', 'b+token@send.there.test', null],
  )
  assert.match(
    Buffer.from(row!.body).toString(),
    /^Received: by mailhorn\.test with local id eml_[0-9a-f-]+\.0;\r\n\tSun, 22 Nov 2026 01:02:03 \+0000\r\nSubject: a\r\n\r\nhello\r\n$/,
  )
})

test('a repeated delivery stores the message once', async t => {
  const { deliverLocally, domain, rows } = await open(t)
  const again = delivery()
  for (const attempt of [1, 2]) {
    const { code } = await deliverLocally(
      { ...again, attempt },
      domain,
      messageOf('Subject: a'),
      NOW + attempt,
    )
    assert.is(code, 250)
  }
  await deliverLocally({ ...again, ordinal: 1 }, domain, messageOf('Subject: a'), NOW)
  assert.is(rows('select 1 from inbound_messages').length, 2)
})

test('a large message can be read after it is delivered', async t => {
  const { deliverLocally, domain, db, rows, blobs } = await open(t)
  const body = 'x'.repeat(200_000)
  await deliverLocally(delivery(), domain, messageOf('Subject: a', body), NOW)
  const [row] = rows<{ raw_hash: Uint8Array }>('select raw_hash from inbound_messages')
  assert.ok((await blobs.read(db, row!.raw_hash)).toString().endsWith(`Subject: a\r\n\r\n${body}`))
})

test('a message with too many hops bounces', async t => {
  const { deliverLocally, domain, rows } = await open(t)
  const hops = (count: number) => messageOf(`${'Received: from a by b\r\n'.repeat(count)}Subject: a`)
  const { code, enhanced } = await deliverLocally(delivery(), domain, hops(100), NOW)
  assert.equal([code, enhanced], [554, '5.4.6'])
  assert.is(rows('select 1 from inbound_messages').length, 0)
  assert.is((await deliverLocally(delivery(), domain, hops(99), NOW)).code, 250)
})

test('a message that cannot be stored is retried and leaves no file', async t => {
  const { failing, domain, rows, blobs } = await open(t)
  const large = messageOf('Subject: a', 'x'.repeat(200_000))
  const error = await failing(delivery(), domain, large, NOW).then(
    () => assert.unreachable(),
    reason => reason,
  )
  assert.instance(error, StorageUnavailable)
  assert.is(rows('select 1 from inbound_messages').length, 0)
  assert.ok(blobs)
})

test.run()
