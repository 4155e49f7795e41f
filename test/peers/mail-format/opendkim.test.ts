import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite, type TestContext } from '../../kit/suite.ts'
import { corpus } from '../../unit/protocols/dkim/corpus.ts'
import { createTestKey, signed, type TestKey } from '../../unit/protocols/dkim/signed.ts'
import { faultOf } from '../../unit/protocols/dkim/verifier-faults.ts'
import { addedFields } from './milter.ts'
import { missing, temporaryFolder } from './tools.ts'

const test = suite('peers/mail-format: opendkim')

test('verifies both signatures of every message, but for its known faults', async t => {
  const keys = await Promise.all([createTestKey('rsa-sha256'), createTestKey('ed25519-sha256')])
  const socketPath = await startOpendkim(t, keys)
  for (const message of corpus) {
    const result = faultOf('opendkim', message.name)?.verdict ?? 'pass'
    const expected = [`rsa-sha256 ${result}`, `ed25519-sha256 ${result}`]
    assert.equal(await verdicts(socketPath, await signed(message, keys)), expected, message.name)
  }
})

test('refuses what was altered, so that its consent means something', async t => {
  const key = await createTestKey('ed25519-sha256')
  const socketPath = await startOpendkim(t, [key])
  const message = (await signed(corpus.find(({ name }) => name === 'plain text')!, [key])).toString('latin1')
  for (const altered of [message.replace('Bob,', 'Eve,'), message.replace('Subject: ', 'Subject: not ')])
    assert.equal(await verdicts(socketPath, Buffer.from(altered, 'latin1')), ['ed25519-sha256 fail'])
})

/**
 * `algorithm result` for each signature, from the top, as the filter's Authentication-Results field has
 * them.
 */
async function verdicts(socketPath: string, message: Buffer): Promise<string[]> {
  const fields = await addedFields(socketPath, message, 'Authentication-Results')
  return fields.flatMap(value =>
    [...value.matchAll(/dkim=(\w+)[^;]*header\.a=([\w-]+)/g)].map(
      ([, result, algorithm]) => `${algorithm} ${result}`,
    ),
  )
}

/** opendkim as a filter that verifies, with our records instead of DNS. Resolves to its socket. */
async function startOpendkim(t: TestContext, keys: readonly TestKey[]): Promise<string> {
  const folder = await temporaryFolder(t)
  const socketPath = join(folder, 'socket')
  const records = join(folder, 'records')
  await writeFile(records, keys.map(({ recordName, record }) => `${recordName} ${record}\n`).join(''))
  const settings = [
    'Mode v',
    `TestDNSData file:${records}`,
    'Syslog no',
    'On-BadSignature accept',
    'On-NoSignature accept',
  ]
  const config = join(folder, 'opendkim.conf')
  await writeFile(config, `${settings.join('\n')}\n`)

  const child = spawn('opendkim', ['-f', '-x', config, '-p', `local:${socketPath}`], { stdio: 'ignore' })
  const over = new AbortController()
  const ended = new Promise<never>((_, reject) => {
    child.on('error', error => reject(missing('opendkim', 'opendkim', `${error}`)))
    child.on('exit', code => reject(missing(`opendkim (it ended with ${code})`, 'opendkim', `${settings}`)))
  })
  t.after(async () => {
    over.abort()
    if (child.exitCode !== null || child.pid === undefined) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await Promise.race([listening(socketPath, over.signal), ended])
  return socketPath
}

/** Tries as soon as something appears in the folder: the socket is there a moment before it listens. */
async function listening(socketPath: string, signal: AbortSignal): Promise<void> {
  for await (const _ of watch(dirname(socketPath), { signal }))
    while (!signal.aborted) if (await canConnect(socketPath)) return
}

function canConnect(socketPath: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(socketPath)
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

test.run()
