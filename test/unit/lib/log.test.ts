import * as assert from 'uvu/assert'
import { createLog } from '../../../src/lib/log.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/log')

function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown>[] {
  const lines: string[] = []
  write(createLog('info', { write: line => void lines.push(line) }))
  return lines.map(line => JSON.parse(line))
}

test('a log line is one JSON object with level, time and message', () => {
  const [line] = logged(log => log.info({ port: 25 }, 'listening\non a port'))
  assert.equal([line!.level, line!.msg, line!.port], ['info', 'listening\non a port', 25])
  assert.match(String(line!.time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('what is below the level is not written', () => {
  assert.is(logged(log => log.debug('x')).length, 0)
})

test('secrets are not written, at the top or one level down', () => {
  const secrets = { password: 'p', token: 't', authorization: 'a', apiKey: 'k', privateKey: 'x', html: 'h' }
  const [line] = logged(log => log.warn({ ...secrets, request: { ...secrets, path: '/emails' } }, 'm'))
  for (const key of Object.keys(secrets)) {
    assert.is(line![key], '[redacted]')
    assert.is((line!.request as Record<string, unknown>)[key], '[redacted]')
  }
  assert.is((line!.request as { path: string }).path, '/emails')
})

test('an error is written with its cause', () => {
  const [line] = logged(log => log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'm'))
  assert.match(JSON.stringify(line!.err), /outer.*inner/)
})

test.run()
