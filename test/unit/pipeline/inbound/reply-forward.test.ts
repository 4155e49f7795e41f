import * as assert from 'uvu/assert'
import { forward, replyTo } from '../../../../src/pipeline/inbound/reply-forward.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('pipeline/inbound/reply-forward')

const ANN = { name: null, address: 'ann@here.test', domain: 'here.test' }
const WORDS = { html: null, text: 'x' }

/** A message of which only the subject matters. */
function messageOf(subject: string): Parameters<typeof replyTo>[0] {
  const message = { subject, headers: [], messageId: null, html: null, text: 'x', createdAt: 0 }
  const lists = { fromList: null, toList: null, ccList: null, bccList: null, replyToList: null }
  const listed = { id: Buffer.alloc(16), sender: 'bob@there.test', recipients: '[]', attachments: null }
  return { ...message, ...lists, ...listed } as unknown as Parameters<typeof replyTo>[0]
}

const REPLIES: [subject: string, expected: string][] = [
  ['Hello', 'Re: Hello'],
  ['Re: Hello', 'Re: Hello'],
  ['RE: Hello', 'Re: Hello'],
  ['AW: Hello', 'Re: Hello'],
  ['Re: AW: Hello', 'Re: Hello'],
  ['Re[2]: Hello', 'Re: Hello'],
  ['Re: Re[2]: Hello', 'Re: Hello'],
  ['Re(3): Hello', 'Re: Hello'],
  ['Re^2: Hello', 'Re: Hello'],
  ['Antw: SV: VS: Odp: Hello', 'Re: Hello'],
  ['re :Hello', 'Re: Hello'],
  ['回复：你好', 'Re: 你好'],
  ['Fwd: Hello', 'Re: Fwd: Hello'],
  ['Results: Hello', 'Re: Results: Hello'],
  ['Regarding: Hello', 'Re: Regarding: Hello'],
  ['', 'Re: '],
  ['re '.repeat(600), `Re: ${'re '.repeat(600)}`.slice(0, 950)],
]
for (const [subject, expected] of REPLIES)
  test(`the reply to ${JSON.stringify(subject.slice(0, 40))} has one prefix`, () => {
    assert.is(replyTo(messageOf(subject), ANN, [ANN], WORDS).subject, expected)
  })

for (const [subject, expected] of [
  ['Hello', 'Fwd: Hello'],
  ['Fw: Hello', 'Fw: Hello'],
  ['WG: Hello', 'WG: Hello'],
  ['Re: Hello', 'Fwd: Re: Hello'],
] as const)
  test(`${subject} is forwarded with one prefix`, () => {
    assert.is(forward(messageOf(subject), ANN, [ANN], []).subject, expected)
  })

test.run()
