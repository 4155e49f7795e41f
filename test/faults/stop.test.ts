import * as assert from 'uvu/assert'
import { type Program, printedApiKey } from '../kit/process.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { FROM_DOMAIN, firstStart, openScene } from './scene.ts'
import { createSenders } from './senders.ts'

const test = suite('SIGTERM', { limitMs: 120_000 })
const CYCLES = Number(process.env.STOP_CYCLES ?? 3)
const CLIENT_COUNT = 20
/** Time that supervisors wait before they kill a process. */
const PATIENCE_MS = 30_000

/**
 * Asks the program to stop, more than once as terminals and supervisors do, and kills it when it has not
 * after half a minute.
 */
async function stop(program: Program) {
  const patience = setTimeout(() => process.kill(program.pid, 'SIGKILL'), PATIENCE_MS)
  const ending = program.end('SIGTERM')
  for (const again of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.kill(program.pid, again)
  const end = await ending
  clearTimeout(patience)
  return end
}

test(`${CYCLES} times under load: it ends by itself, nothing is lost, nothing comes twice`, async t => {
  const scene = await openScene(t)
  let program = await firstStart(scene)
  const senders = createSenders({
    apiKey: printedApiKey(program),
    clientCount: CLIENT_COUNT,
    from: `ann@${FROM_DOMAIN}`,
    recipientOf: number => `ok-${number}@there.example`,
  })
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const before = scene.ledger().length
    const sending = senders.sendUntilCut(program.baseUrl)
    await until(() => scene.ledger().length > before + 100)
    const end = await stop(program)
    assert.equal([end.code, end.signal], [0, null], end.output)
    await sending
    assert.equal(scene.rowsLeft('select 1 from deliveries where state = 1'), [], 'no lease is left behind')
    program = await scene.start()
  }
  await senders.repeatUnanswered(program.baseUrl)
  await scene.drained()

  const lines = scene.ledger()
  assert.is(new Set(lines.map(({ recipient }) => recipient)).size, lines.length, 'something came twice')
  assert.equal(
    lines.map(({ recipient }) => recipient).sort(),
    senders.wanted.map(({ recipient }) => recipient).sort(),
  )
  assert.equal(scene.rows("select count(*) as count from attempts where outcome <> 'delivered'"), [
    { count: 0 },
  ])
  assert.equal(scene.rows('pragma integrity_check'), [{ integrity_check: 'ok' }])
})

test('takes nothing more once it has been asked to stop, and lets an attempt under way end', async t => {
  const scene = await openScene(t)
  const program = await firstStart(scene)
  const token = printedApiKey(program)
  const body = { from: `ann@${FROM_DOMAIN}`, to: 'slow-dot-3000@there.example', subject: 's', text: 't' }
  const { body: sent } = await program.call('POST', '/emails', { token, body })
  await scene.mx.until(/C: DATA/)
  const ended = stop(program)
  await until(async () => {
    const taken = await program
      .call('POST', '/emails', { token, body: { ...body, to: 'ok@there.example' } })
      .then(
        ({ status }) => status === 200,
        () => false,
      )
    return !taken
  })
  const end = await ended
  assert.is(end.code, 0, end.output)
  assert.ok(scene.ledger().some(({ recipient }) => recipient === 'slow-dot-3000@there.example'))
  const again = await scene.start()
  const { body: email } = await again.call('GET', `/emails/${sent.id}`, { token })
  assert.equal([email.status, email.recipients[0].attempts], ['delivered', 1])
})

test('does not wait for ever for a recipient that never answers', async t => {
  const scene = await openScene(t)
  const program = await firstStart(scene)
  const token = printedApiKey(program)
  const body = { from: `ann@${FROM_DOMAIN}`, to: 'hang-after-rcpt@there.example', subject: 's', text: 't' }
  const { body: sent } = await program.call('POST', '/emails', { token, body })
  await scene.mx.until(/C: RCPT/)
  const end = await stop(program)
  assert.equal([end.code, end.signal], [0, null], end.output)
  assert.equal(
    program.logs.filter(({ level }) => level === 'error'),
    [],
    'the thread has to end although the attempt goes on',
  )
  const again = await scene.start()
  const { body: email } = await again.call('GET', `/emails/${sent.id}`, { token })
  assert.is(email.recipients[0].transcripts[0].outcome, 'unknown')
})

test('a second signal does not make it worse', async t => {
  const scene = await openScene(t)
  const program = await firstStart(scene)
  const ended = program.end('SIGTERM')
  process.kill(program.pid, 'SIGINT')
  const end = await ended
  assert.equal([end.code, end.signal], [0, null], end.output)
  const again = await scene.start()
  assert.equal((await again.call('GET', '/readyz')).body, { status: 'ready', mode: 'normal' })
})

test('SIGINT, as Ctrl-C sends it, stops it as well', async t => {
  const scene = await openScene(t)
  const program = await scene.start()
  assert.is((await program.end('SIGINT')).code, 0)
})

test.run()
