import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('the addresses we send from')
const DAY_MS = 86_400_000
const ZONE = 'there.example MX 10 mx.there.example\nmx.there.example A 127.0.0.2'

async function open(t: TestContext, env: Record<string, string>) {
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const mailhorn = await t.using(startMailhorn({ zone: ZONE, mxPort: mx.port, env }))
  await mailhorn.verifiedDomain('here.example')
  const session = await mailhorn.signIn()
  const sources = async () => (await mailhorn.call('GET', '/sources', { session })).body.data
  const send = (to: string) => mailhorn.send({ from: 'ann@here.example', to, subject: 'hi', text: 'hello' })
  return { mx, mailhorn, session, sources, send }
}

const WARMING = {
  MAILHORN_DELIVERY_SOURCE_IPS: '127.0.0.61=out61.here.example',
  MAILHORN_DELIVERY_WARMUP: '127.0.0.61=2026-01-01',
  MAILHORN_DELIVERY_WARMUP_CAPS: [...Array(1_000).fill(2)].join(),
}

test('an address that is warmed up sends its share of the day, the next mail goes the day after, and the operator sees it', async t => {
  const { mailhorn, sources, send, mx } = await open(t, WARMING)
  const ids = [await send('a@there.example'), await send('b@there.example')]
  for (const id of ids) await mailhorn.emailWhen(id, 'delivered')
  const late = await send('c@there.example')
  const [source] = await until(async () => {
    const entries = await sources()
    return entries[0].warmup.sent[0]?.count === 2 ? entries : undefined
  })
  assert.equal([source.source_ip, source.ehlo_name, source.rests], ['127.0.0.61', 'out61.here.example', []])
  assert.equal(
    [source.warmup.cap, source.warmup.day > 300, source.warmup.sent],
    [2, true, [{ provider: 'other', count: 2 }]],
  )
  assert.equal(source.warmup.caps, Array(1_000).fill(2))
  assert.is((await mailhorn.email(late)).status, 'queued')
  assert.is(mx.messages.length, 2)
  mailhorn.clock.advance(DAY_MS)
  await mailhorn.emailWhen(late, 'delivered')
  assert.is((await sources())[0].warmup.day, source.warmup.day + 1)
})

test('where the system chooses the address there is none to show', async t => {
  const { sources } = await open(t, {})
  assert.equal(await sources(), [])
})

test('it is for operators alone', async t => {
  const { mailhorn } = await open(t, {})
  const { session } = await addAccount(mailhorn, 'Other')
  assertRefusal(await mailhorn.call('GET', '/sources', { session }), {
    status: 403,
    name: 'invalid_access',
  })
})

test.run()
