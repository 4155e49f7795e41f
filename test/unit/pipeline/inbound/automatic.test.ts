import * as assert from 'uvu/assert'
import { automaticOf } from '../../../../src/pipeline/inbound/automatic.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('pipeline/inbound/automatic')

const CASES: [what: string, fields: Record<string, string>, kind: string | null][] = [
  ['a message of a person', { Subject: 'Hello' }, null],
  ['Auto-Submitted: no', { 'Auto-Submitted': 'no' }, null],
  ['an empty Auto-Submitted', { 'Auto-Submitted': '' }, null],
  ['a vacation program', { 'Auto-Submitted': 'auto-replied (vacation)' }, 'auto-reply'],
  ['capitals', { 'AUTO-SUBMITTED': 'Auto-Replied' }, 'auto-reply'],
  ['Exchange', { Subject: 'Automatic reply: Hello', 'Auto-Submitted': 'auto-generated' }, 'auto-reply'],
  [
    'Exchange, without Auto-Submitted',
    { Subject: 'Automatic reply: Hello', 'X-Auto-Response-Suppress': 'All' },
    'auto-reply',
  ],
  ['the words of a program, from a person', { Subject: 'Automatic reply: Hello' }, null],
  ['a field of a vendor', { 'X-Autoreply': 'yes' }, 'auto-reply'],
  ['Precedence: auto_reply', { Precedence: 'auto_reply' }, 'auto-reply'],
  ['another field of a vendor', { 'X-Auto-Reply-From': 'ann@there.test' }, 'auto-reply'],
  [
    'a rule of Exchange',
    { Subject: 'Out of Office: Hi', 'X-MS-Exchange-Inbox-Rules-Loop': 'a@b' },
    'auto-reply',
  ],
  ['a bounce of Exim', { 'X-Failed-Recipients': 'ann@there.test' }, 'report'],
  ['a comment before no', { 'Auto-Submitted': '(by hand) no' }, null],
  ['a read receipt', { 'Content-Type': 'multipart/report; report-type=disposition-notification' }, 'report'],
  [
    'a delivery report',
    { 'content-type': 'Multipart/Report; report-type=delivery-status', 'Auto-Submitted': 'auto-replied' },
    'report',
  ],
  ['a notification', { 'Auto-Submitted': 'auto-generated' }, 'bulk'],
  ['a newsletter', { 'List-Unsubscribe': '<mailto:u@there.test>' }, 'bulk'],
  ['a mailing list', { 'List-Id': '<list.there.test>' }, 'bulk'],
  ['Precedence: bulk', { Precedence: 'bulk' }, 'bulk'],
  ['Precedence: first-class', { Precedence: 'first-class' }, null],
]
for (const [what, fields, kind] of CASES)
  test(`${what}: ${kind ?? 'no program'}`, () => {
    assert.is(automaticOf(Object.entries(fields)), kind)
  })

test.run()
