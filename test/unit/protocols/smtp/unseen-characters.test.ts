import * as assert from 'uvu/assert'
import { parseMailbox } from '../../../../src/protocols/smtp/address.ts'
import { unseenIn, withoutUnseen } from '../../../../src/protocols/smtp/unseen-characters.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('smtp/unseen-characters')
const ANN = 'ann@there.example'
/** A Persian domain whose joiner makes it another one than without. */
const PERSIAN = 'ann@نامه\u200cای.example'

/** A text, the first invisible character in it, and what is left without those that have no width. */
const TABLE: readonly [text: string, unseen: string | undefined, without: string][] = [
  [ANN, undefined, ANN],
  ['ann@müller.example', undefined, 'ann@müller.example'],
  [PERSIAN, undefined, PERSIAN],
  ['ann@क्\u200dष.example', undefined, 'ann@क्\u200dष.example'],
  [`\u200b${ANN}`, 'U+200B', ANN],
  [`${ANN}\u200e`, 'U+200E', ANN],
  [`\u2068${ANN}\u2069`, 'U+2068', ANN],
  [`${ANN}\u{e0061}\u{e007f}`, 'U+E0061', ANN],
  ['an\u00adn@there.example', 'U+00AD', ANN],
  ['ann@the\u2060re.exam\ufeffple', 'U+2060', ANN],
  ['a\u034fnn@there.example', 'U+034F', ANN],
  ['ann\u180e@there.example', 'U+180E', ANN],
  ['a\u200dnn@there.example', 'U+200D', ANN],
  [`${ANN}\u200d`, 'U+200D', ANN],
  ['ann@\u200cthere.example', 'U+200C', ANN],
  ['ann@the\u200dre.example', 'U+200D', ANN],
  [`\u200b${PERSIAN}\u200b`, 'U+200B', PERSIAN],
  [`\u00a0${ANN}`, 'U+00A0', `\u00a0${ANN}`],
  ['ann@there.\u3000example', 'U+3000', 'ann@there.\u3000example'],
  ['ann\u3164@there.example', 'U+3164', 'ann\u3164@there.example'],
  ['\u200b', 'U+200B', ''],
  ['', undefined, ''],
]
for (const [text, unseen, without] of TABLE)
  test(`${JSON.stringify(text)} has ${unseen ?? 'no invisible character'}`, () => {
    assert.is(unseenIn(text), unseen)
    assert.is(withoutUnseen(text).text, without)
    if (unseen !== undefined && text !== without) assert.ok(withoutUnseen(text).removed.includes(unseen))
    const mailbox = parseMailbox(text)
    if (unseen !== undefined) assert.equal(mailbox, { fault: `contains the invisible character ${unseen}` })
    // What can be repaired is an address afterwards.
    if (without === ANN || without === PERSIAN) assert.not('fault' in parseMailbox(without))
  })

test('invisible characters are found and removed in linear time', () => {
  for (const piece of ['\u200b', '\u200d', 'ب\u200c', '@\u200d', 'a\u034f']) {
    const { text } = withoutUnseen(`ann@${piece.repeat(100_000)}`)
    assert.ok(text.length <= 200_004)
  }
})

test.run()
