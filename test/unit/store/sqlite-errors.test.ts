import * as assert from 'uvu/assert'
import { isDamaged, lacksTable, sqliteErrorKind } from '../../../src/store/sqlite/errors.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/sqlite-errors')

for (const [code, message, kind, isDamage, isForLackOfTable] of [
  ['SQLITE_FULL', 'database or disk is full', 'unavailable', false, false],
  ['SQLITE_BUSY', 'database is locked', 'unavailable', false, false],
  ['SQLITE_IOERR_WRITE', 'disk I/O error', 'unavailable', false, false],
  ['SQLITE_IOERR_FSYNC', 'disk I/O error', 'fatal', false, false],
  ['SQLITE_IOERR_DIR_FSYNC', 'disk I/O error', 'fatal', false, false],
  ['SQLITE_CORRUPT_VTAB', 'database disk image is malformed', 'fatal', true, false],
  ['SQLITE_NOTADB', 'file is not a database', 'fatal', true, false],
  ['SQLITE_ERROR', 'unsupported file format', 'own', true, false],
  ['SQLITE_MISUSE', 'unsupported file format', 'own', false, false],
  ['SQLITE_ERROR', 'no such table: emails', 'own', false, true],
  ['SQLITE_MISUSE', 'no such table: emails', 'own', false, false],
  ['SQLITE_ERROR', 'no such column: at', 'own', false, false],
  ['SQLITE_CONSTRAINT_UNIQUE', 'UNIQUE constraint failed', 'own', false, false],
  [undefined, 'a mistake of ours', 'own', false, false],
] as const)
  test(`"${message}" with ${code ?? 'no code'} is an error of the kind ${kind}`, () => {
    const error = Object.assign(new Error(message), code && { code })
    assert.is(sqliteErrorKind(error), kind)
    assert.equal([isDamaged(error), lacksTable(error)], [isDamage, isForLackOfTable])
  })

test.run()
