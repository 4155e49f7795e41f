import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import * as assert from 'uvu/assert'
import { loadConfig } from '../../../src/config/config.ts'
import { ROUNDS_MAX } from '../../../src/pipeline/inbound/rounds.ts'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** Smart hosts that lead to each other: the mail bounces after some rounds (RFC 5321 §6.3). */
const test = suite('mail loops')

interface Place {
  relay: number
  smartHost: number
  hidesOrigin?: boolean
}

async function started(t: TestContext, { relay, smartHost, hidesOrigin = false }: Place): Promise<Mailhorn> {
  const mailhorn = await t.using(
    startMailhorn({
      env: {
        MAILHORN_SMTP_RELAY_LISTEN: `127.0.0.1:${relay}`,
        MAILHORN_SMTP_RELAY_NETWORKS: '127.0.0.0/8',
        MAILHORN_SMTP_SUBMISSION_HIDE_ORIGIN: String(hidesOrigin),
        MAILHORN_DELIVERY_SMART_HOST: `smtp://127.0.0.1:${smartHost}?tls=opportunistic`,
      },
    }),
  )
  await mailhorn.verifiedDomain('here.example')
  return mailhorn
}

const letter = { from: 'ann@here.example', to: 'bob@there.example', subject: 'round', text: 'and round' }
const bounced = "select id, error from emails where status = 'bounced'"
/** Without the notifications of the bounce. */
const all = "select id from emails where subject = 'round'"

for (const [what, first, second] of [
  ['that leave the trace', false, false],
  ['that both hide the origin', true, true],
] as const)
  test(`two installations ${what} do not send a message to each other for ever`, async t => {
    const [one, two] = [await freePort(), await freePort()]
    const a = await started(t, { relay: one, smartHost: two, hidesOrigin: first })
    const b = await started(t, { relay: two, smartHost: one, hidesOrigin: second })
    await a.send(letter)
    const failed = await until(() => {
      const rows = [a, b].flatMap(mailhorn => mailhorn.rows<{ error: string }>(bounced))
      return rows.length > 0 ? rows : undefined
    })
    assert.match(
      failed[0]!.error,
      '554 5.4.6 Mail loop detected: Mailhorn has sent this message on 10 times.',
    )
    assert.is(a.rows(all).length + b.rows(all).length, ROUNDS_MAX + 1)
  })

test('an installation whose smart host is its own relay behind a forwarded port bounces the message', async t => {
  const relay = await freePort()
  const router = createServer(client => {
    const server = connect(relay, '127.0.0.1')
    client.pipe(server).pipe(client)
    for (const socket of [client, server]) socket.on('error', () => socket.destroy())
  })
  router.listen(0, '127.0.0.1')
  await once(router, 'listening')
  t.after(() => void router.close())
  const { port: smartHost } = router.address() as { port: number }
  const mailhorn = await started(t, { relay, smartHost })
  await mailhorn.send(letter)
  const [failed] = await until(() => {
    const rows = mailhorn.rows<{ error: string }>(bounced)
    return rows.length > 0 ? rows : undefined
  })
  assert.match(failed!.error, '554 5.4.6')
  assert.is(mailhorn.rows(all).length, ROUNDS_MAX + 1)
})

test('a configuration whose smart host is an own listener is refused by name', () => {
  const root = new URL('../../..', import.meta.url).pathname
  const faultOf = (settings: Record<string, string>) => {
    try {
      loadConfig(root, { MAILHORN_SMTP_RELAY_NETWORKS: '127.0.0.0/8', ...settings })
    } catch (error) {
      return (error as Error).message
    }
    return undefined
  }
  const relay = { MAILHORN_SMTP_RELAY_LISTEN: '0.0.0.0:2526' }
  const lead = (url: string, listen = relay) => faultOf({ ...listen, MAILHORN_DELIVERY_SMART_HOST: url })
  const refusal = 'delivery.smart_host: leads back to this installation (smtp.relay.listen)'
  for (const host of ['127.0.0.1', 'localhost', '127.1.1.1'])
    assert.match(lead(`smtp://${host}:2526`)!, refusal)
  assert.match(lead('smtps://ann:x@127.0.0.1:2465')!, '(smtp.submission_tls.listen)')
  assert.is(lead('smtp://127.0.0.1:2527'), undefined)
  assert.is(lead('smtp://relay.example:2526'), undefined)
})

test.run()
