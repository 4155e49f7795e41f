import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import koffi from 'koffi'
import * as assert from 'uvu/assert'
import { connectServiceManager } from '../../../src/lib/service-manager.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('lib/service-manager')
const skip = process.platform === 'linux' ? undefined : 'systemd runs on Linux'

const AF_UNIX = 1
const SOCK_DGRAM = 2
const MSG_DONTWAIT = 0x40

/** A socket as systemd has it for one service; Node cannot open datagram sockets of the Unix family. */
function manager(t: TestContext, { isAbstract = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-notify-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'notify')
  const name = isAbstract ? `\0${path}` : `${path}\0`
  const libc = koffi.load(null)
  const socket = libc.func('int socket(int, int, int)')(AF_UNIX, SOCK_DGRAM, 0) as number
  t.after(() => libc.func('int close(int)')(socket))
  const address = Buffer.concat([Buffer.of(AF_UNIX, 0), Buffer.from(name)])
  assert.is(libc.func('int bind(int, const void *, uint32_t)')(socket, address, address.length), 0)
  const receive = libc.func('int64_t recv(int, void *, size_t, int)')
  const bytes = Buffer.alloc(64)
  return {
    path: isAbstract ? `@${path}` : path,
    /** The next notification that has arrived; undefined without one. */
    heard() {
      const length = Number(receive(socket, bytes, bytes.length, MSG_DONTWAIT))
      return length < 0 ? undefined : bytes.toString('latin1', 0, length)
    },
  }
}

for (const [where, isAbstract] of [
  ['in a folder', false],
  ['in the abstract namespace', true],
] as const)
  test(
    `service manager: notifications reach a socket ${where}`,
    async t => {
      const systemd = manager(t, { isAbstract })
      const notify = await connectServiceManager({ NOTIFY_SOCKET: systemd.path })
      notify!('READY=1')
      notify!('STOPPING=1')
      assert.equal([systemd.heard(), systemd.heard(), systemd.heard()], ['READY=1', 'STOPPING=1', undefined])
    },
    { skip },
  )

test(
  'service manager: the watchdog hears of the process that it watches, not of another one',
  async t => {
    const [own, ofAny, ofOther, without] = [manager(t), manager(t), manager(t), manager(t)]
    const other = String(process.pid + 1)
    await connectServiceManager({ NOTIFY_SOCKET: without.path, WATCHDOG_PID: String(process.pid) })
    await connectServiceManager({ NOTIFY_SOCKET: ofOther.path, WATCHDOG_USEC: '20000', WATCHDOG_PID: other })
    await connectServiceManager({ NOTIFY_SOCKET: ofAny.path, WATCHDOG_USEC: '200000' })
    const watched = { WATCHDOG_USEC: '200000', WATCHDOG_PID: String(process.pid) }
    await connectServiceManager({ NOTIFY_SOCKET: own.path, ...watched })
    assert.is(await until(() => own.heard()), 'WATCHDOG=1')
    assert.is(await until(() => ofAny.heard()), 'WATCHDOG=1')
    assert.is(ofOther.heard(), undefined)
    assert.is(without.heard(), undefined)
  },
  { skip },
)

test(
  'service manager: the watchdog hears of the process twice in its interval',
  async t => {
    const systemd = manager(t)
    const from = performance.now()
    await connectServiceManager({ NOTIFY_SOCKET: systemd.path, WATCHDOG_USEC: '400000' })
    await until(() => systemd.heard())
    await until(() => systemd.heard())
    const elapsedMs = performance.now() - from
    assert.ok(elapsedMs >= 390, `twice in ${elapsedMs} ms`)
  },
  { skip },
)

test('service manager: without one, there is nobody to notify', async () => {
  assert.is(await connectServiceManager({ WATCHDOG_USEC: '20000' }), undefined)
})

test.run()
