import * as assert from 'uvu/assert'
import { createFetchAttachments } from '../../../src/accept/fetch-attachments.ts'
import { isRefusal } from '../../../src/accept/refusal.ts'
import { encodedSize, MOST_MESSAGE_BYTES, type WholeSubmission } from '../../../src/accept/submission.ts'
import type { OutboundReply, OutboundRequest } from '../../../src/outbound/exchange.ts'
import { OutboundFault } from '../../../src/outbound/fault.ts'
import { newId, submissionOf } from '../../kit/mail.ts'
import { createManualClock, settled } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('accept: attachments that are fetched')
const ACCOUNT = newId(1)
const remote = (name: string) => ({
  url: `https://files.example/${name}`,
  filename: null,
  contentType: null,
  contentId: null,
})
const file = (bytes: number) => ({
  filename: 'a',
  contentType: 'text/plain',
  contentId: null,
  content: new Uint8Array(bytes),
})
const worded = (...attachments: (ReturnType<typeof remote> | ReturnType<typeof file>)[]) => ({
  ...submissionOf({ attachments }),
  subject: 'hi',
})
const reply = (bytes = 1): OutboundReply => ({ status: 200, headers: {}, body: Buffer.alloc(bytes) })

/** Requests are answered when the test says so. */
function open() {
  const clock = createManualClock()
  const asked: OutboundRequest[] = []
  const answers: ((result: OutboundReply | OutboundFault) => void)[] = []
  const send = (request: OutboundRequest) => {
    asked.push(request)
    return new Promise<OutboundReply | OutboundFault>(resolve => answers.push(resolve))
  }
  const fetchAttachments = createFetchAttachments({ outbound: { send, close() {} }, clock })
  const answer = async (result: OutboundReply | OutboundFault) => {
    answers.shift()!(result)
    await settled()
  }
  return { clock, asked, answer, fetchAttachments }
}

test('a submission with all its bytes is handed back as it is', async () => {
  const submission = worded(file(1))
  assert.is(await open().fetchAttachments(ACCOUNT, submission), submission)
})

test('one is fetched after another, with what is left of the time', async () => {
  const { clock, asked, answer, fetchAttachments } = open()
  const whole = fetchAttachments(ACCOUNT, worded(remote('a'), file(1), remote('b')))
  await settled()
  clock.advance(12_000)
  assert.is(asked.length, 1)
  await answer(reply())
  assert.equal(
    asked.map(({ url, limitMs }) => [url, limitMs]),
    [
      ['https://files.example/a', 30_000],
      ['https://files.example/b', 18_000],
    ],
  )
  await answer(reply(2))
  assert.equal(
    ((await whole) as WholeSubmission).attachments.map(({ content }) => content.length),
    [1, 1, 2],
  )
})

test('each may be as large as the message has room, and a message full to the brim is taken', async () => {
  const { asked, answer, fetchAttachments } = open()
  const whole = fetchAttachments(ACCOUNT, worded(remote('a'), remote('b')))
  await settled()
  const [{ limitBytes: first }] = asked as [OutboundRequest]
  assert.ok(first > 28_000_000 && first < 31_000_000)
  await answer(reply(20_000_000))
  const { limitBytes: second } = asked[1]!
  assert.ok(second > 8_000_000 && second < first - 20_000_000)
  await answer(reply(second))
  const size = encodedSize((await whole) as WholeSubmission)
  assert.ok(size > MOST_MESSAGE_BYTES - 2_000 && size < MOST_MESSAGE_BYTES + 2_000)
})

test('no room at all is no room for a byte', async () => {
  const { asked, answer, fetchAttachments } = open()
  const refused = fetchAttachments(ACCOUNT, worded(file(MOST_MESSAGE_BYTES), remote('a')))
  await settled()
  assert.is(asked[0]!.limitBytes, 0)
  await answer(new OutboundFault('too-large', 'the reply is larger than 0 bytes'))
  const refusal = await refused
  assert.ok(isRefusal(refusal) && refusal.refused === 'invalid_attachment')
})

test('too many of one account at a time are told to come back, others are not', async () => {
  const { asked, answer, fetchAttachments } = open()
  const waiting = Array.from({ length: 52 }, () => fetchAttachments(ACCOUNT, worded(remote('a'))))
  const busy = await fetchAttachments(ACCOUNT, worded(remote('a')))
  assert.ok(isRefusal(busy) && busy.refused === 'busy')
  const other = fetchAttachments(newId(2), worded(remote('a')))
  await settled()
  assert.is(asked.length, 3)
  for (let i = 0; i < 53; i++) await answer(reply())
  for (const whole of await Promise.all([...waiting, other])) assert.not(isRefusal(whole))
})

test.run()
