import * as assert from 'uvu/assert'
import { createIncoming } from '../../../../src/interfaces/submission/incoming.ts'
import {
  type Admission,
  type Submit,
  startSubmissionListener,
} from '../../../../src/interfaces/submission/listener.ts'
import { createIdSource, wireId } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { createMetrics } from '../../../../src/lib/metrics.ts'
import { networks } from '../../../../src/lib/networks.ts'
import { createMailReport } from '../../../../src/pipeline/inbound/mail-report.ts'
import { ReplyError } from '../../../../src/pipeline/inbound/reply.ts'
import { largeInput } from '../../../kit/large-input.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { dialSmtp } from '../../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { testCertificate } from '../../../kit/tls.ts'
import { until } from '../../../kit/until.ts'

const test = suite('submission/listener, refusals')

const newId = createIdSource()
const accountId = newId(0)
const sender = { accountId, apiKeyId: newId(0), domain: null }
const credential = wireId('tok', sender.apiKeyId)
const account = wireId('acc', accountId)
const refusing: Submit = async () => {
  throw new ReplyError(550, '5.7.1 The domain there.example is not verified')
}

interface ListenerOptions {
  admission: Admission
  isTls?: boolean
  /** Number of messages that are admitted. */
  left?: number
}

async function setUp(
  t: TestContext,
  { admission, isTls = false, left = Number.POSITIVE_INFINITY }: ListenerOptions,
) {
  const metrics = createMetrics()
  const clock = createManualClock()
  const logged: Record<string, unknown>[] = []
  const log = createLog('info', { write: line => void logged.push(JSON.parse(line)) })
  const listener = await t.using(
    startSubmissionListener({
      listen: { host: '127.0.0.1', port: 0 },
      isTls,
      mailHost: 'mailhorn.test',
      certificates: { current: () => testCertificate('good'), onChange: () => () => {}, close() {} },
      admission,
      admit: () => (left-- > 0 ? null : new ReplyError(450, '4.7.1 Too many messages a second')),
      submit: refusing,
      incoming: createIncoming(largeInput({ bytes: 100_000, clock })),
      report: createMailReport({ metrics, log, clock }, 'submission'),
      clock,
      log,
    }),
  )
  const client = await t.using(dialSmtp({ port: listener.address().port }))
  if (isTls) await client.startTls()
  await client.reply()
  await client.say('EHLO program.example')
  return { client, metrics, logged, clock }
}

test('submission: a client cannot name another client as its own', async t => {
  const { client } = await setUp(t, { admission: { signIn: async () => 'wrong' }, isTls: true })
  assert.not.match(await client.say('EHLO program.example'), /XCLIENT|XFORWARD/)
  for (const line of ['XCLIENT ADDR=10.0.0.1', 'XFORWARD ADDR=10.0.0.1'])
    assert.match(await client.say(line), /^5\d\d /, line)
})

test('every negative reply is counted with the enhanced status code that the client got', async t => {
  const { client, metrics } = await setUp(t, { admission: { signIn: async () => 'wrong' } })
  const told: string[] = []
  for (const command of [
    'MAIL FROM:<a@here.example>',
    'AUTH PLAIN AGEAYg==',
    'XYZZY',
    'DATA',
    'RCPT TO:<b@c.example>',
  ])
    told.push(await client.say(command))
  while (!told.at(-1)!.startsWith('421')) told.push(await client.say('XYZZY').then(text => text))
  const replies = told.map(text => /^([45]\d\d) ([45]\.\d+\.\d+) /.exec(text)!.slice(1).join(' '))
  const counted = [
    ...metrics.text().matchAll(/_total\{listener="submission",code="(\d+)",status="([\d.]*)"\} (\d+)/g),
  ]
  const sums = Object.fromEntries(
    counted.map(([, code, status, count]) => [`${code} ${status}`, Number(count)]),
  )
  const expected = Object.fromEntries(
    [...Map.groupBy(replies, reply => reply)].map(([reply, same]) => [reply, same.length]),
  )
  assert.equal(sums, expected)
  assert.ok(expected['530 5.7.0']! >= 1)
})

/** The facts of a log line that do not change from run to run. */
const facts = ({ level, time, msg, ...rest }: Record<string, unknown>) => rest
const nobody = { account: null, credential: null }
const common = {
  event: 'smtp_refused',
  listener: 'submission',
  address: '127.0.0.1',
  helo: 'program.example',
}

test('a refusal is logged with the client, its credential and the envelope', async t => {
  const admission = { signIn: async () => ({ sender, credential }) }
  const { client, logged } = await setUp(t, { admission, isTls: true })
  assert.match(await client.say(`AUTH PLAIN ${btoa('\0resend\0secret')}`), /^235/)
  await client.say('MAIL FROM:<app@here.example>')
  assert.match(await client.say('RCPT TO:<b ob@there.example>'), /^501/)
  await client.say('RCPT TO:<bob@there.example>')
  await client.say('RCPT TO:<"carl x"@there.example>')
  await client.say('DATA')
  assert.match(await client.say('Subject: hi\r\n\r\nsecret\r\n.'), /^550/)
  const known = { ...common, account, credential, sender: 'app@here.example', left_out: 0 }
  assert.equal(logged.map(facts), [
    {
      ...known,
      command: 'RCPT',
      recipients: ['<b ob@there.example>'],
      recipient_count: 1,
      reply: '501 5.1.3 Error: Bad recipient address syntax',
    },
    {
      ...known,
      command: 'DATA',
      recipients: ['bob@there.example', '"carl x"@there.example'],
      recipient_count: 2,
      reply: '550 5.7.1 The domain there.example is not verified',
    },
  ])
  assert.not.match(JSON.stringify(logged), 'secret')
})

test('no line has a password: not of a refused login, nor of a client that goes on with it', async t => {
  const { client, logged } = await setUp(t, { admission: { signIn: async () => 'wrong' }, isTls: true })
  const [user, password] = [btoa('resend'), btoa('re_secret')]
  for (const line of [`AUTH CRAM-MD5 ${password}`, user, password, 'AUTH LOGIN', user, '*'])
    await client.say(line)
  client.end()
  const lines = logged.map(facts)
  assert.equal(
    lines.map(({ command }) => command),
    ['AUTH', 'unknown', 'unknown', 'AUTH'],
  )
  for (const line of lines) assert.equal({ ...line, ...nobody }, line)
  assert.not.match(JSON.stringify(logged), new RegExp(`${user}|${password}|re_secret`))
})

for (const isTls of [false, true])
  test(`parameters of extensions that are not offered are refused ${isTls ? 'on port 465' : 'by the relay'}`, async t => {
    const admission: Admission = isTls
      ? { signIn: async () => ({ sender, credential }) }
      : { networks: networks(['127.0.0.0/8']), sender }
    const { client } = await setUp(t, { admission, isTls })
    if (isTls) await client.say(`AUTH PLAIN ${btoa('\0resend\0secret')}`)
    for (const name of ['FOO', 'HOLDFOR', 'REQUIRETLS', 'NOTIFY'])
      assert.is(
        await client.say(`MAIL FROM:<a@here.example> ${name}`),
        `555 5.5.4 The parameter ${name} is not offered here`,
      )
    const author = await client.say('MAIL FROM:<a@here.example> AUTH=<>')
    assert.match(author, isTls ? /^250 / : /^555 5\.5\.4 The parameter AUTH /)
    await client.say('RSET')
    const offered = 'MAIL FROM:<a@here.example> SIZE=9 BODY=8BITMIME SMTPUTF8 RET=FULL ENVID=1'
    assert.match(await client.say(offered), /^250 /)
    assert.match(await client.say('RCPT TO:<b@there.example> SIZE=9'), /^555 5\.5\.4 The parameter SIZE /)
    assert.match(await client.say('RCPT TO:<b@there.example> NOTIFY=NEVER ORCPT=rfc822;c@d.example'), /^250 /)
  })

const relay: Admission = { networks: networks(['127.0.0.0/8']), sender }

for (const [envid, orcpt, reply] of [
  ['e'.repeat(100), 'o'.repeat(493), /^250 /],
  ['e'.repeat(101), undefined, /^501 5\.5\.4 ENVID is too long$/],
  ['e', 'o'.repeat(494), /^501 5\.5\.4 ORCPT is too long$/],
] as const)
  test(`an envelope id of ${envid.length} characters and a recipient of ${orcpt?.length}: ${reply}`, async t => {
    const { client } = await setUp(t, { admission: relay })
    const mail = await client.say(`MAIL FROM:<a@here.example> ENVID=${envid}`)
    if (orcpt === undefined) return assert.match(mail, reply)
    assert.match(mail, /^250 /)
    assert.match(await client.say(`RCPT TO:<b@there.example> ORCPT=rfc822;${orcpt}`), reply)
  })

test('a recipient whose domain has too long a label is refused by itself', async t => {
  const { client } = await setUp(t, { admission: relay })
  await client.say('MAIL FROM:<a@here.example>')
  assert.match(await client.say(`RCPT TO:<b@${'c'.repeat(64)}.example>`), /^553 5\.1\.3 The address /)
  assert.match(await client.say('RCPT TO:<b@there.example>'), /^250 /)
})

test('a message that is not admitted is refused at MAIL FROM', async t => {
  const { client } = await setUp(t, { admission: relay, left: 1 })
  assert.match(await client.say('MAIL FROM:<a@here.example>'), /^250 /)
  await client.say('RSET')
  assert.is(await client.say('MAIL FROM:<a@here.example>'), '450 4.7.1 Too many messages a second')
})

test('a login that cannot be checked may be repeated, and the fault is logged', async t => {
  const signIn = async () => {
    throw new Error('the store is gone')
  }
  const { client, logged } = await setUp(t, { admission: { signIn }, isTls: true })
  const reply = await client.say(`AUTH PLAIN ${btoa('\0resend\0secret')}`)
  assert.is(reply, '454 4.7.0 The login cannot be checked now')
  assert.is(logged.filter(({ event }) => event === 'smtp_auth_failed').length, 1)
})

test('each wrong password is answered later, and the third ends the session', async t => {
  let loginCount = 0
  const signIn = async () => {
    loginCount++
    return 'wrong' as const
  }
  const { client, clock } = await setUp(t, { admission: { signIn }, isTls: true })
  const login = `AUTH PLAIN ${btoa('\0resend\0secret')}`
  for (const [count, delayMs] of [
    [1, 1_000],
    [2, 2_000],
  ] as const) {
    let reply: string | undefined
    const replying = client.say(login).then(text => {
      reply = text
    })
    await until(() => loginCount === count)
    await settled()
    clock.advance(delayMs - 1)
    await settled()
    assert.is(reply, undefined)
    clock.advance(1)
    await replying
    assert.match(reply!, /^535 5\.7\.8 /)
  }
  assert.is(await client.say(login), '421 4.7.0 Too many failed logins')
})

test('the relay names its account', async t => {
  const admission = { networks: networks(['127.0.0.0/8']), sender }
  const { client, logged } = await setUp(t, { admission })
  assert.match(await client.say('MAIL FROM:<a@here.example> FOO=BAR'), /^555/)
  const [line] = logged.map(facts)
  assert.equal(line, {
    ...common,
    account,
    credential: null,
    command: 'MAIL',
    sender: 'a@here.example',
    recipients: [],
    recipient_count: 0,
    left_out: 0,
    reply: '555 5.5.4 The parameter FOO is not offered here',
  })
})

test.run()
