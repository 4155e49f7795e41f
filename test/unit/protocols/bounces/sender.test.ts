import * as assert from 'uvu/assert'
import { signsOf } from '../../../../src/protocols/bounces/sender.ts'
import { readHead } from '../../../../src/protocols/mime/read/head.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('reports/sender')

for (const [from, isDaemon] of [
  ['MAILER-DAEMON@there.example', true],
  ['"Ann" <postmaster@there.example>', true],
  ['Mail Delivery Subsystem <noreply@there.example>', true],
  ['<noreply@there.example> (Mail Delivery System)', true],
  ['MAILER-DAEMON', true],
  ['<MAILER-DAEMON> (somewhere)', true],
  ['Ann <ann@there.example>', false],
  ['ann.postmaster@there.example', false],
  ['Ann, about the delivery <ann@there.example>', false],
] as const)
  test(`the sender ${from} is ${isDaemon ? 'a' : 'no'} mail system`, () => {
    const { head } = readHead(Buffer.from(`From: ${from}\r\nSubject: hello\r\n\r\n`))
    assert.is(signsOf(head).isDaemon, isDaemon)
  })

test.run()
