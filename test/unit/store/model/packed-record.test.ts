import * as assert from 'uvu/assert'
import { packRecord, readRecord, withRecord } from '../../../../src/resources/emails/attempt-record.ts'
import { pack, unpack } from '../../../../src/store/model/packed-record.ts'
import type { AttemptRow } from '../../../../src/store/model/schema.ts'
import { newId } from '../../../kit/mail.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('store/packed')

const TRIAL = {
  host: 'mx.there.test',
  ip: '192.0.2.1',
  phase: 'final-dot',
  reply: '250 2.0.0 Ok: queued as 4XyzAB',
  tls: null,
  tlsFallback: null,
  policy: 'none',
  phases: [
    ['mail', 3, '250 2.1.0 Ok'],
    ['final-dot', 15, '250 2.0.0 Ok: queued as 4XyzAB'],
  ],
}
const RECORD = {
  phase: 'final-dot',
  reply: TRIAL.reply,
  mxHost: TRIAL.host,
  mxIp: TRIAL.ip,
  tls: null,
  transcript: JSON.stringify([TRIAL]),
}

/** The same, as the first words have packed it. */
const PACKED = 'ASMuoZtEVFY5OkFCtSQjtShVryS1GKQBqcDFDGsUleBQR1JOdPBjdQeFEWKMJUKQ3GFoSjAowIEHAA=='

test('packed record: any text is unpacked unchanged', () => {
  for (const text of ['', 'x', '{"a":"\u0000 ünï 🎺"}', JSON.stringify(RECORD).repeat(500)])
    assert.is(unpack(pack(text)), text)
})

test('packed record: a usual record takes a fifth of its length', () => {
  const text = JSON.stringify([...Object.values(RECORD).slice(0, 5), [TRIAL]])
  assert.ok(packRecord(RECORD).length * 5 < text.length, `${packRecord(RECORD).length} of ${text.length}`)
})

test('packed record: an unknown dictionary is an error', () => {
  assert.throws(() => unpack(new Uint8Array([2, 3, 0])), /not known: 2/)
})

test('packed record: the first dictionary never changes, because stored rows need it', () => {
  const bytes = Buffer.from(PACKED, 'base64')
  assert.equal(readRecord(bytes), RECORD)
})

test('packed record: records of attempts are read back, also without a host and from former rows', () => {
  assert.equal(readRecord(packRecord(RECORD)), RECORD)
  const nobody = { phase: null, reply: 'no "route"', mxHost: null, mxIp: null, tls: null, transcript: null }
  assert.equal(readRecord(packRecord(nobody)), nobody)
  const row: AttemptRow = {
    emailId: newId(1),
    ordinal: 0,
    number: 1,
    startedAt: 1,
    finishedAt: 2,
    outcome: 'delivered',
    record: null,
    brokeOff: null,
    ...RECORD,
  }
  assert.is(withRecord(row), row)
  const packed = { ...row, ...nobody, record: packRecord(RECORD) }
  assert.equal({ ...withRecord(packed), record: null }, row)
})

test.run()
