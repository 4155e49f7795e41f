import * as assert from 'uvu/assert'
import { refusedCommand } from '../../../../src/pipeline/inbound/refused-command.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/refused-command')
const open = { mailFrom: { address: 'ann@here.example' }, rcptTo: [{ address: 'bob@there.example' }] }
const none = { mailFrom: false as const, rcptTo: [] }

for (const [line, envelope, expected] of [
  ['MAIL FROM:<ann@here.example> SIZE=9', none, ['MAIL', 'ann@here.example', []]],
  ['mail from: <>', none, ['MAIL', '', []]],
  ['MAIL FROM:scanner', none, ['MAIL', 'scanner', []]],
  ['MAIL FROM:<two words@x> BODY=7BIT', none, ['MAIL', '<two words@x> BODY=7BIT', []]],
  ['MAIL FROM:<eve@there.example>', open, ['MAIL', 'ann@here.example', ['bob@there.example']]],
  ['MAIL', none, ['MAIL', undefined, []]],
  ['RCPT TO:<carl@there.example> NOTIFY=NEVER', open, ['RCPT', 'ann@here.example', ['carl@there.example']]],
  ['RCPT TO:<carl@there.example>', none, ['RCPT', undefined, ['carl@there.example']]],
  ['RCPT TO:nobody', open, ['RCPT', 'ann@here.example', ['nobody']]],
  ['DATA', open, ['DATA', 'ann@here.example', ['bob@there.example']]],
  ['DATA', undefined, ['DATA', undefined, []]],
  ['BDAT 10 LAST', open, ['BDAT', 'ann@here.example', ['bob@there.example']]],
  ['cmVfc2VjcmV0', none, ['unknown', undefined, []]],
  ['\x16\x03\x01', none, ['unknown', undefined, []]],
  ['', none, ['unknown', undefined, []]],
] as const)
  test(`refused command: ${JSON.stringify(line)} ${envelope === open ? 'within' : 'outside'} a transaction`, () => {
    const { verb, sender, recipients } = refusedCommand(line, envelope)
    assert.equal([verb, sender, recipients], expected)
  })

test.run()
