import * as assert from 'uvu/assert'
import type { RcptPolicy } from '../../../../src/pipeline/inbound/rcpt-policy.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { admitAll, finish, openInboundListener as open } from '../../../kit/inbound-listener.ts'
import { dialSmtp } from '../../../kit/smtp-client.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/listener')

for (const [what, error, reply] of [
  [
    'for now',
    new StorageUnavailable('the disk is full'),
    '451 4.3.1 The store is not available, try again later',
  ],
  ['at all', new Error('no such table'), '451 4.3.0 Something is wrong here, try again later'],
] as const)
  test(`RCPT TO: a recipient is deferred while the store cannot be queried ${what}, and accepted later`, async t => {
    let isDown = true
    const admit: RcptPolicy = address => (isDown ? Promise.reject(error) : admitAll(address))
    const { greeted } = await open(t, { admit })
    const client = await greeted()
    assert.is(await client.say('RCPT TO:<bob@here.example>'), reply)
    assert.match(await client.say('DATA'), /^503 /)
    isDown = false
    assert.match(await client.say('RCPT TO:<bob@here.example>'), /^250 /)
    assert.match(await client.say('DATA'), /^354 /)
    assert.match(await finish(client), /^250 /)
  })

test('DATA: a message that cannot be stored is deferred, and the connection continues', async t => {
  let isDown = true
  const { inData } = await open(t, {
    async take() {
      if (isDown) throw new StorageUnavailable('the disk is full')
    },
  })
  const client = await inData()
  assert.is(await finish(client), '452 4.3.1 The store is not available, try again later')
  isDown = false
  await client.say('MAIL FROM:<ann@there.example>')
  await client.say('RCPT TO:<bob@here.example>')
  await client.say('DATA')
  assert.match(await finish(client), /^250 /)
})

for (const isSecure of [true, false])
  test(`a message over ${isSecure ? 'TLS' : 'a connection without TLS'} is taken with where it comes from`, async t => {
    const taken: unknown[] = []
    const { port } = await open(t, {
      async take({ tls, helo, clientIp, sender }) {
        taken.push([tls, helo, clientIp, sender])
      },
    })
    const client = await t.using(dialSmtp({ port, from: '127.0.0.7' }))
    await client.reply()
    await client.say('EHLO first.example')
    if (isSecure) {
      assert.match(await client.say('STARTTLS'), /^220 /)
      await client.startTls()
      await client.say('EHLO client.example')
    }
    for (const line of ['MAIL FROM:<ann@there.example>', 'RCPT TO:<bob@here.example>', 'DATA'])
      assert.match(await client.say(line), /^[23]5\d /)
    assert.match(await finish(client), /^250 /)
    const facts = isSecure ? ['TLSv1.3', 'client.example'] : [null, 'first.example']
    assert.equal(taken, [[...facts, '127.0.0.7', 'ann@there.example']])
  })

test('pipelining: all commands of one packet are answered', async t => {
  const { greeted } = await open(t, {})
  const client = await greeted()
  const count = 900
  client.write('NOOP\r\n'.repeat(count))
  for (let i = 0; i < count; i++) assert.is(await client.reply(), '250 OK')
  assert.match(await client.say('RCPT TO:<bob@here.example>'), /^250 /)
  client.write('RSET\r\nMAIL FROM:<ann@there.example>\r\nRCPT TO:<bob@here.example>\r\nDATA\r\n')
  for (const code of [/^250 /, /^250 /, /^250 /, /^354 /]) assert.match(await client.reply(), code)
  client.write('Subject: one\r\n\r\nx\r\n.\r\nNOOP\r\nQUIT\r\n')
  for (const code of [/^250 /, /^250 /, /^221 /]) assert.match(await client.reply(), code)
})

test('parameters: what EHLO offers is taken, and everything else is refused by its name', async t => {
  const { greeted } = await open(t, {})
  const client = await greeted()
  await client.say('RSET')
  for (const parameter of [
    'FOO=BAR',
    'RET=HDRS',
    'ENVID=17',
    'AUTH=<>',
    'REQUIRETLS',
    'MT-PRIORITY=3',
    'BY=9;R',
  ]) {
    const name = parameter.split('=')[0]!
    const told = await client.say(`MAIL FROM:<ann@there.example> SIZE=10 ${parameter}`)
    assert.is(told, `555 5.5.4 The parameter ${name} is not offered here`)
  }
  assert.match(await client.say('MAIL FROM:<ann@there.example> BODY=BINARYMIME'), /^501 /)
  const offered = 'MAIL FROM:<ann@there.example> size=10 BODY=8BITMIME SMTPUTF8'
  assert.match(await client.say(offered), /^250 /)
  for (const parameter of ['NOTIFY=SUCCESS', 'ORCPT=rfc822;a@b.example', 'X', 'RRVS=2014-04-03T23:01:00Z']) {
    const name = parameter.split('=')[0]!
    const told = await client.say(`RCPT TO:<bob@here.example> ${parameter}`)
    assert.is(told, `555 5.5.4 The parameter ${name} is not offered here`)
  }
  assert.match(await client.say('RCPT TO:<bob@here.example>'), /^250 /)
})

test('log: a refused sender is found by its address, its server and what it wrote', async t => {
  const admit: RcptPolicy = async address => (address.startsWith('nobody') ? undefined : admitAll(address))
  const { greeted, logged } = await open(t, {
    admit,
    take: async () => {
      throw new StorageUnavailable('disk full')
    },
  })
  const client = await greeted()
  await client.say('RCPT TO:<nobody@here.example>')
  await client.say('RCPT TO:<bob@here.example>')
  await client.say('DATA')
  await finish(client)
  await client.say('MAIL FROM:<a@[bad>')
  await client.say('QUIT')
  const lines = logged.filter(({ event }) => event === 'smtp_refused')
  assert.equal(
    lines.map(({ listener, address, helo, account }) => [listener, address, helo, account]),
    lines.map(() => ['inbound', '127.0.0.1', 'client.example', null]),
  )
  assert.equal(
    lines.map(({ command, sender, recipients, reply }) => [command, sender, recipients, reply]),
    [
      [
        'RCPT',
        'ann@there.example',
        ['nobody@here.example'],
        '550 5.7.1 No such address here, and nothing is relayed',
      ],
      [
        'DATA',
        'ann@there.example',
        ['bob@here.example'],
        '452 4.3.1 The store is not available, try again later',
      ],
      ['MAIL', '<a@[bad>', [], '501 Error: Bad sender address syntax'],
    ],
  )
})

test('metrics: accepted and rejected mail is counted by reply code', async t => {
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
    'mailhorn_smtp_taken_total{listener="inbound"} 1',
    'mailhorn_smtp_refused_total{listener="inbound",code="550",status="5.7.1"} 2',
    'mailhorn_smtp_deferred_total{listener="inbound",code="452",status="4.3.1"} 1',
    'mailhorn_smtp_deferred_total{listener="inbound",code="421",status="5.5.2"} 1',
  ])
})

test.run()
