/**
 * Each system call that opens a listener fails, one after another, in a start of the real program: in the
 * check before the start and behind it, when the data folder is in use already.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { startProgram } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import type { PlantedErrno } from './planted-errno.ts'

const test = suite('planted listen errors', { limitMs: 480_000 })
const preload = new URL('./planted-errno.ts', import.meta.url)
function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-listen-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const files = { plan: join(folder, 'planted.json'), log: join(folder, 'planted.log') }
  const options = { dataDir: join(folder, 'data'), preload }
  /**
   * Starts with a planted error. @returns why it ended, `went on`, or undefined if no call was left to fail
   */
  const startWith = async (planted: PlantedErrno): Promise<string | undefined> => {
    writeFileSync(files.plan, JSON.stringify(planted))
    try {
      const { end } = await startProgram(options)
      await end('SIGTERM')
      return existsSync(files.log) ? 'went on' : undefined
    } catch (error) {
      assert.match(readFileSync(files.log, 'utf8'), `${planted.call} ${planted.code}`)
      return (error as Error).message
    } finally {
      rmSync(files.plan)
      rmSync(files.log, { force: true })
    }
  }
  return { options, startWith }
}

for (const [code, isWaitedFor] of [
  // The lock of the data folder is a socket, too: one in use is that of a process that ends.
  ['EADDRINUSE', 1],
  ['EMFILE', 0],
] as const)
  test(`a listener that fails with ${code} refuses the start in one line, and the next start is served`, async t => {
    const { options, startWith } = open(t)
    const ends: string[] = []
    // given the call number nth that fails, until no call is left
    for (let nth = 0; ; nth++) {
      const end = await startWith({ call: 'net.listen', code, nth })
      if (end === undefined) break
      ends.push(end)
    }
    // then the process ends with status 1, and one line says why
    const refused = ends.filter(end => end !== 'went on')
    assert.is(ends.length - refused.length, isWaitedFor, ends.join('\n'))
    for (const output of refused) {
      assert.match(output, /^the program ended \(1\):/)
      const faults = output.split('\n').filter(line => line.startsWith('mailhorn: '))
      assert.is(faults.length, 1, output)
      assert.match(faults[0]!, code)
      assert.not.match(output, /^\s+at /m)
    }
    // and HTTP and port 25 were met in the check and when they were opened, and the control socket
    assert.ok(refused.length >= 5, refused.join('\n'))
    const program = await t.using(startProgram(options))
    assert.is((await program.call('GET', '/healthz')).status, 200)
  })

test.run()
