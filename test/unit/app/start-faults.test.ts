import * as assert from 'uvu/assert'
import { startFaultText, storeFailure } from '../../../src/app/start-faults.ts'
import type { Config } from '../../../src/config/config.ts'
import { StartFault } from '../../../src/lib/start-fault.ts'
import { DiskFailure } from '../../../src/store/errors.ts'
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
    const { code: kept, message: text } = failure(code, message)
    const passed = Object.assign(new Error(text), { code: kept })
    for (const error of [failure(code, message), passed])
      assert.equal(storeFailure(error, config), {
        fields: { fault: `${code}: ${message}` },
        text: `The process exits: the database /data/mail.db is damaged (${code}: ${message}): restore a backup, see "Backup" in docs/operations.md`,
      })
  })

test('start fault: its message is shown without a trace, also from another thread', () => {
  const fault = new StartFault('the key is missing; restore it')
  const passed = Object.assign(new Error(fault.message), { code: fault.code })
  for (const error of [fault, passed])
    assert.is(startFaultText(error, config), 'mailhorn: the key is missing; restore it')
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
