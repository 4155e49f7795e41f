import * as assert from 'uvu/assert'
import { startFaultText, storeFailure } from '../../../src/app/start-faults.ts'
import type { Config } from '../../../src/config/config.ts'
import { StartFault } from '../../../src/lib/start-fault.ts'
import { DiskFailure } from '../../../src/store/model/errors.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('app/start-faults')
const config = { dataDir: '/data', database: { url: 'sqlite:mail.db' } } as Config

const failure = (code: string, message: string) =>
  new DiskFailure(Object.assign(new Error(message), { code }))

for (const [code, message] of [
  ['SQLITE_CORRUPT', 'database disk image is malformed'],
  ['SQLITE_CORRUPT_INDEX', 'database disk image is malformed'],
  ['SQLITE_NOTADB', 'file is not a database'],
] as const)
  test(`store failure: ${code} names the file and the remedy, without a trace, also from another thread`, () => {
    const { code: remaining, message: text } = failure(code, message)
    const passed = Object.assign(new Error(text), { code: remaining })
    for (const error of [failure(code, message), passed])
      assert.equal(storeFailure(error, config), {
        fields: { fault: `${code}: ${message}` },
        text: `The process exits: the database /data/mail.db is damaged (${code}: ${message}): restore a backup, see "Restore" in docs/backup.md`,
      })
  })

test('start fault: its message is shown without a trace, also from another thread', () => {
  const fault = new StartFault('the key is missing; restore it')
  const passed = Object.assign(new Error(fault.message), { code: fault.code })
  for (const error of [fault, passed])
    assert.is(startFaultText(error, config), 'mailhorn: the key is missing; restore it')
})

for (const [what, address, code, says] of [
  [
    'a file system without sockets',
    'data/control.sock',
    'EOPNOTSUPP',
    'cannot listen on data/control.sock: the system refuses it',
  ],
  [
    'a socket that is taken',
    '/data/control.sock',
    'EADDRINUSE',
    'cannot listen on /data/control.sock: the system refuses it',
  ],
  ['too many open files', '/data/control.sock', 'EMFILE', 'too many files are open'],
] as const)
  test(`start fault: ${what} is one line about the control socket`, () => {
    const error = Object.assign(new Error(`listen ${code} ${address}`), { code, syscall: 'listen', address })
    const nothing = { listen: null }
    const smtp = { inbound: nothing, submission: nothing, submissionTls: nothing, relay: nothing }
    const http = { ...nothing, tlsListen: null }
    const metrics = nothing
    const listening = {
      ...config,
      http,
      smtp,
      metrics,
      acme: { enabled: false },
      dns: { listen: [] },
      roles: ['all'],
    }
    const line = startFaultText(error, listening as unknown as Config)
    assert.match(line, says)
    assert.match(line, /^mailhorn: [^\n]+\(\w+\)/)
    assert.match(line, code)
  })

test('start fault: an error that nobody foresaw is shown with its trace', () => {
  for (const error of [
    new Error('unforeseen'),
    Object.assign(new TypeError('unforeseen'), { code: 'OTHER' }),
  ])
    assert.is(startFaultText(error, config), error.stack)
  assert.is(startFaultText({ code: 'START_FAULT', message: 'no error' }, config), '[object Object]')
})

test('store failure: a disk that fails is told with its error', () => {
  const error = failure('SQLITE_IOERR_FSYNC', 'disk I/O error')
  const { fields, text } = storeFailure(error, config)
  assert.equal(fields, { err: error })
  assert.match(text, 'The store has failed')
})

test.run()
