import * as assert from 'uvu/assert'
import { readDeliveryStatus } from '../../../../src/protocols/bounces/delivery-status.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('reports/delivery-status')
const MESSAGE = 'Reporting-MTA: dns; mail.there.example\nArrival-Date: Sat, 21 Nov 2026 10:02:11 +0000\n'

/** One line for each recipient: address, action, status, diagnostics. */
function recipientsIn(text: string): string[] {
  return readDeliveryStatus(text).recipients.map(
    ({ finalRecipient, originalRecipient, action, status, diagnostics }) =>
      [finalRecipient ?? originalRecipient, action, status, ...diagnostics].join(' | '),
  )
}

const FULL = 'rfc822; a@b.example | failed | 5.2.2 | smtp; 552 5.2.2 full'
const GONE = 'rfc822; c@b.example | failed | 5.1.1 | smtp; 550 5.1.1 gone'
const FULL_SILENT = 'rfc822; a@b.example | failed | 5.2.2'
const GONE_SILENT = 'rfc822; c@b.example | failed | 5.1.1'
const A = ['Final-Recipient: rfc822; a@b.example', 'Action: failed', 'Status: 5.2.2']
const A_SAID = 'Diagnostic-Code: smtp; 552 5.2.2 full'
const C = ['Final-Recipient: rfc822; c@b.example', 'Action: failed', 'Status: 5.1.1']
const C_SAID = 'Diagnostic-Code: smtp; 550 5.1.1 gone'
const lines = (...fields: readonly (string | readonly string[])[]) => `${fields.flat().join('\n')}\n`

for (const [what, text, expected] of [
  ['a diagnostic before the recipient', lines(MESSAGE, A_SAID, A), [FULL]],
  ['a diagnostic before each of two recipients', lines(MESSAGE, A_SAID, A, '', C_SAID, C), [FULL, GONE]],
  ['a diagnostic before the second recipient', lines(MESSAGE, A, A_SAID, '', C_SAID, C), [FULL, GONE]],
  [
    'fields in reverse order',
    lines(MESSAGE, A_SAID, A.toReversed(), '', C_SAID, C.toReversed()),
    [FULL, GONE],
  ],
  [
    'the status first',
    lines(MESSAGE, A[2]!, A_SAID, A[0]!, A[1]!, '', C[2]!, C[1]!, C_SAID, C[0]!),
    [FULL, GONE],
  ],
  ['the second recipient without a diagnostic', lines(MESSAGE, A_SAID, A, '', C), [FULL, GONE_SILENT]],
  ['the first recipient without a diagnostic', lines(MESSAGE, A, '', C_SAID, C), [FULL_SILENT, GONE]],
  ['no empty line between groups', lines(MESSAGE, A, A_SAID, C, C_SAID), [FULL, GONE]],
  ['no empty line, and diagnostics first', lines(MESSAGE, A_SAID, A, C_SAID, C), [FULL, GONE]],
  [
    'no empty line, and actions first',
    lines(MESSAGE, A[1]!, A[0]!, A[2]!, A_SAID, C[1]!, C[0]!, C[2]!, C_SAID),
    [FULL, GONE],
  ],
  [
    'no empty line, and an Original-Recipient before one',
    lines(MESSAGE, 'Original-Recipient: rfc822; x@b.example', A, A_SAID, C, C_SAID),
    [FULL, GONE],
  ],
  ['no empty line at all', lines(MESSAGE.trimEnd(), A, A_SAID), [FULL]],
  [
    'an empty line within a group',
    lines(MESSAGE, A.slice(0, 2), '', A[2]!, A_SAID, '', C, '', C_SAID),
    [FULL, GONE],
  ],
  [
    'an empty line after a leading diagnostic',
    lines(MESSAGE, A_SAID, '', A, '', C_SAID, '', C),
    [FULL, GONE],
  ],
  ['an empty line after each field', lines(MESSAGE, ...A.flatMap(field => [field, '']), A_SAID), [FULL]],
  ['lines of blanks between groups', lines(MESSAGE, A, A_SAID, ' \t', C_SAID, C), [FULL, GONE]],
  ['several empty lines', lines(MESSAGE, '', '', A_SAID, A, '', '', '', C, C_SAID, '', ''), [FULL, GONE]],
  [
    'folded fields',
    lines(
      MESSAGE,
      'Diagnostic-Code: smtp;',
      '\t552 5.2.2',
      '  full',
      'Final-Recipient:',
      ' rfc822; a@b.example',
      A.slice(1),
    ),
    [FULL],
  ],
  [
    'a folded line that looks like a field',
    lines(MESSAGE, A, 'Diagnostic-Code: smtp; 552', ' Status: 5.2.2 full'),
    ['rfc822; a@b.example | failed | 5.2.2 | smtp; 552 Status: 5.2.2 full'],
  ],
  [
    'indented fields',
    lines(
      MESSAGE,
      [A_SAID, ...A].map(line => `  ${line}`),
    ),
    [FULL],
  ],
  [
    'names in other cases',
    lines(
      MESSAGE,
      A_SAID.replace('Diagnostic-Code', 'DIAGNOSTIC-CODE'),
      'final-recipient : rfc822; a@b.example',
      'ACTION: failed',
      'status: 5.2.2',
    ),
    [FULL],
  ],
  [
    'comments',
    lines(
      MESSAGE,
      A_SAID,
      'Final-Recipient: (was x@y.example (old)) rfc822; a@b.example (Ann)',
      'Action: (for good) failed (really)',
      A[2]!,
    ),
    [FULL],
  ],
  [
    'a comment that does not end',
    lines(MESSAGE, A_SAID, A[0]!, A[2]!, 'Action: failed (x'),
    [FULL.replace('failed', 'failed (x')],
  ],
  ['a diagnostic among the fields of the message', lines(MESSAGE.trimEnd(), A_SAID, '', A), [FULL]],
  ['that for two recipients', lines(MESSAGE.trimEnd(), A_SAID, '', C, '', A), [GONE_SILENT, FULL_SILENT]],
  ['fields twice', lines(MESSAGE, A, 'Status: 5.0.0', A_SAID, 'Action: delayed'), [FULL]],
  ['unknown fields', lines(MESSAGE, 'X-A: b', A_SAID, 'X-Actual-Recipient: rfc822; z@b.example', A), [FULL]],
  ['no recipient', lines(MESSAGE), []],
  ['a group without a name', lines(MESSAGE, A.slice(1), A_SAID), [FULL.replace('rfc822; a@b.example', '')]],
] as const)
  test(`given ${what}, when a status is read, then each recipient keeps its own fields`, () => {
    assert.equal(recipientsIn(text), expected)
  })

test('given a group without action and status, when a status is read, then its recipient is left out', () => {
  const named = 'Final-Recipient: rfc822; ann@there.example\n'
  const failed = 'Final-Recipient: rfc822; ben@there.example\nAction: failed\n'
  assert.equal(recipientsIn(`${MESSAGE}\n${named}`), [])
  assert.equal(recipientsIn(`${MESSAGE}\n${named}\n${failed}`), ['rfc822; ben@there.example | failed | '])
})

test('given fields of the message between groups, when a status is read, then they are of the message', () => {
  const { reportingMta, envelopeId, messageId } = readDeliveryStatus(
    lines(
      A_SAID,
      A,
      '',
      'Original-Envelope-Id: QQ1',
      'Reporting-MTA: dns; x.example',
      'X-Original-Message-ID: <1@x>',
    ),
  )
  assert.equal([reportingMta, envelopeId, messageId], ['x.example', 'QQ1', '<1@x>'])
})

test.run()
