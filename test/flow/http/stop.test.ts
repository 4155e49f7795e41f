import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { askService, NOT_RUNNING } from '../../../src/interfaces/cli/control/client.ts'
import { startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('stop of the service')

test('after the stop, the control socket is gone and the API takes no connection', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const mailhorn = await startMailhorn({ dataDir })
  const socket = join(dataDir, 'control.sock')
  assert.ok(existsSync(socket))
  assert.is((await fetch(`${mailhorn.baseUrl}/readyz`)).status, 200)

  await mailhorn.close()
  assert.not(existsSync(socket))
  assert.is(await askService(dataDir, 'key.delete', { id: 'x' }), NOT_RUNNING)
  const refused = await fetch(`${mailhorn.baseUrl}/readyz`).then(
    () => 'answered',
    error => error.cause.code,
  )
  assert.is(refused, 'ECONNREFUSED')
})

test.run()
