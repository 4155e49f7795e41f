import * as assert from 'uvu/assert'
import { databaseSchema } from '../../../../src/interfaces/doctor/schema.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('doctor: schema')
const known = ['001-one', '002-two', '003-three']
const snapshot = {
  path: '/d/snapshots/s.db',
  schema: '001-one',
  madeAt: '2026-11-28T00:30:00Z',
  bytes: 3_000_000,
}
const SHOWN = 'Snapshots: /d/snapshots/s.db (2026-11-28T00:30:00Z, 3 MB).'

for (const [what, applied, snapshots, keep, status, message, advice] of [
  [
    'the schema of this version',
    known,
    [],
    2,
    'ok',
    'The schema is that of this version. There are no snapshots.',
    null,
  ],
  ['snapshots', known, [snapshot], 2, 'ok', `The schema is that of this version. ${SHOWN}`, null],
  ['PostgreSQL', known, null, 2, 'ok', 'The schema is that of this version.', null],
  [
    'pending migrations',
    ['001-one'],
    [snapshot],
    2,
    'warning',
    `The next start applies 002-two, 003-three. ${SHOWN}`,
    'The start makes a snapshot before; back up all the same.',
  ],
  [
    'pending migrations without snapshots',
    ['001-one', '002-two'],
    [],
    0,
    'warning',
    'The next start applies 003-three. There are no snapshots.',
    'Back up before: database.snapshots is 0, so that no snapshot is made.',
  ],
  [
    'pending migrations of PostgreSQL',
    ['001-one', '002-two'],
    null,
    2,
    'warning',
    'The next start applies 003-three.',
    'Run mailhorn backup before: no snapshot is made of a PostgreSQL database.',
  ],
  [
    'a newer version',
    [...known, '004-four'],
    [snapshot],
    2,
    'failed',
    `The database was made by a newer version. ${SHOWN}`,
    'Install the newer version again, or run mailhorn restore with a snapshot of this version, or restore a backup.',
  ],
  ['no database', [], [], 2, 'unknown', 'There is no database yet.', null],
] as const)
  test(`${what}: ${status}`, async () => {
    const [finding] = await databaseSchema({
      applied: async () => applied,
      known,
      snapshots: () => snapshots,
      keep,
    }).examine(new AbortController().signal)
    assert.equal([finding!.status, finding!.message, finding!.advice], [status, message, advice])
  })

test.run()
