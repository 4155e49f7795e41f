import * as assert from 'uvu/assert'
import { type NoticeSource, noticeMessage } from '../../../../src/pipeline/delivery/dsn/notice-message.ts'
import { readMail } from '../../../../src/protocols/mime/read/read-mail.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('delivery/notice-message')

const AT = Date.UTC(2026, 10, 21, 12)

function noticeOf(args: Partial<NoticeSource> = {}): string {
  const { message } = noticeMessage({
    action: 'failed',
    facts: { text: '550 5.1.1 no such user', host: 'mx.there.example', status: '5.1.1' },
    at: AT,
    recipient: 'bob@there.example',
    original: null,
    request: { sender: 'app@here.example', ret: 'FULL', envelopeId: null, recipients: [] },
    message: Buffer.from('From: ann@here.example\r\nSubject: hi\r\n\r\nthe body\r\n'),
    arrivedAt: AT - 60_000,
    from: 'mailer-daemon@here.example',
    mailHost: 'mail.here.example',
    messageId: '<x.0.failed@here.example>',
    ...args,
  })
  return message.toString('latin1')
}

/** The fields of the part for programs. */
const statusOf = (notice: string) =>
  /Content-Type: message\/delivery-status\r\n\r\n([\s\S]*?)\r\n\r\n--/.exec(notice)![1]!

test('a failure has the fields of RFC 3464 about the message and the recipient', () => {
  assert.is(
    statusOf(noticeOf()).replaceAll('\r\n', '\n'),
    `Reporting-MTA: dns; mail.here.example
Arrival-Date: Sat, 21 Nov 2026 11:59:00 +0000

Final-Recipient: rfc822; bob@there.example
Action: failed
Status: 5.1.1
Remote-MTA: dns; mx.there.example
Diagnostic-Code: smtp; 550 5.1.1 no such user
Last-Attempt-Date: Sat, 21 Nov 2026 12:00:00 +0000`,
  )
})

for (const [action, text, status, expected] of [
  ['failed', 'expired after 48 h: 451 4.3.0 busy', '5.4.7', '5.4.7'],
  ['failed', '550 no such user', null, '5.0.0'],
  ['failed', '550 4.2.2 mailbox full', '4.2.2', '5.0.0'],
  ['delayed', '451 4.7.1 try later', null, '4.7.1'],
  ['delayed', 'connection timed out', null, '4.0.0'],
  ['relayed', '250 2.6.0 queued', null, '2.6.0'],
  ['delivered', '250 5.0 MB taken', null, '2.0.0'],
] as const)
  test(`${action} with ${JSON.stringify(text)} has the status ${expected}`, () => {
    const notice = noticeOf({ action, facts: { text, host: null, status } })
    assert.is(/^Status: (.*)\r$/m.exec(notice)?.[1], expected)
  })

test('a reply cannot add fields or octets of 8 bits', () => {
  const facts = { text: '550 5.7.1 näin\r\nAction: delivered\r\n\r\n--x', host: 'mx', status: null }
  const notice = noticeOf({ facts, original: 'rfc822;a\r\nX: y@b.example' })
  assert.equal(notice.match(/^Action: .*$/gm), ['Action: failed'])
  assert.not.match(notice, /^X: y/m)
  assert.not.match(notice, /[^\x00-\x7f]/)
})

test('a message of 8 bits returns its header section only', () => {
  const message = Buffer.from('From: ann@here.example\r\nX-Note: \xe4\r\n\r\nthe b\xf6dy\r\n', 'latin1')
  const notice = noticeOf({ message })
  assert.match(notice, 'text/rfc822-headers\r\n\r\nFrom: ann@here.example\r\n')
  assert.not.match(notice, 'the b')
  assert.not.match(notice, /[^\x00-\x7f]/)
})

test('the parts are those of a report, also around a message with parts of its own', () => {
  const inner =
    'From: ann@here.example\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n\r\nhi\r\n--b--\r\n'
  const { faults, text } = readMail(Buffer.from(noticeOf({ message: Buffer.from(inner) }), 'latin1'))
  assert.equal(faults, [])
  assert.match(text!, 'could not be delivered')
})

test.run()
