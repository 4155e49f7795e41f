import { rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { printedApiKey, startProgram } from '../kit/process.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { FROM_DOMAIN, firstStart, openScene } from './scene.ts'

/**
 * Few files may be open, and nobody takes all of them by opening connections; and the one that matters is
 * gone.
 */
const test = suite('files', { limitMs: 120_000 })
const FILES = 512
const STRANGERS = 700
/** Longer than whatever looks around by itself every few seconds. */
const HELD_MS = 7_000

test(`${STRANGERS} strangers who say nothing leave ${FILES} files to those who work`, async t => {
  const scene = await openScene(t)
  const first = await firstStart(scene)
  const token = printedApiKey(first)
  await first.end('SIGTERM')
  const program = await t.using(
    startProgram({ dataDir: scene.dataDir, settings: scene.settings, fileLimit: FILES }),
  )
  assert.match(program.output, '"event":"delivery_connections_reduced"')
  const body = { from: `ann@${FROM_DOMAIN}`, to: 'ok@there.example', subject: 's', text: 't' }
  const waiting = { ...body, to: 'slow-dot-3000@there.example' }
  assert.is((await program.call('POST', '/emails', { token, body: waiting })).status, 200)

  const open = new Set<Socket>()
  let isOver = false
  const { hostname, port } = new URL(program.baseUrl)
  const knock = () => {
    if (isOver) return
    const stranger = connect(Number(port), hostname)
    open.add(stranger)
    stranger.on('error', () => {})
    stranger.once('close', () => {
      open.delete(stranger)
      setTimeout(knock, 50)
    })
  }
  for (let i = 0; i < STRANGERS; i++) knock()
  const since = performance.now()
  await until(() => performance.now() - since > HELD_MS)
  assert.ok(scene.ledger().length === 1, 'what was under way was delivered meanwhile')
  isOver = true
  for (const stranger of open) stranger.destroy()

  const answered = await until(() =>
    program.call('POST', '/emails', { token, body }).then(
      ({ status }) => status,
      () => undefined,
    ),
  )
  assert.is(answered, 200)
  await until(() => scene.ledger().length === 2)
  assert.equal(scene.rows("select count(*) as count from attempts where outcome <> 'delivered'"), [
    { count: 0 },
  ])
  assert.is((await program.end('SIGTERM')).code, 0)
})

test('when the database file is taken away from under the service, it ends rather than accept in vain', async t => {
  const scene = await openScene(t)
  const program = await firstStart(scene)
  rmSync(join(scene.dataDir, 'mailhorn.db'))
  const { code, output } = await program.ended
  assert.is(code, 1)
  assert.match(output, /mailhorn\.db has been removed/)
})

test.run()
