/** One table of addresses, and what each door reads in them. */
import * as assert from 'uvu/assert'
import { withPlainFrom } from '../../../../src/interfaces/submission/mended-addresses.ts'
import { readPath } from '../../../../src/pipeline/inbound/envelope-path.ts'
import { addressesOf } from '../../../../src/protocols/mime/read/addresses.ts'
import { readHead } from '../../../../src/protocols/mime/read/head.ts'
import { parseForeignAddress, parseMailbox } from '../../../../src/protocols/smtp/address.ts'
import { parseMailboxes } from '../../../../src/protocols/smtp/address-list.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('addresses at every door')

type Read = string | undefined

/** The API and imports: one mailbox. */
function atApi(text: string): Read {
  const mailbox = parseMailbox(text)
  return 'fault' in mailbox ? undefined : mailbox.address
}

/** `From` of submission and the relay. */
function inSubmitted(text: string): Read {
  const mailboxes = parseMailboxes(withPlainFrom({ name: 'From', value: text }).value)
  return 'fault' in mailboxes || mailboxes.length > 1 ? undefined : mailboxes[0]!.address
}

/** `From` of received mail, as users are shown it. */
function inReceived(text: string): Read {
  const { head } = readHead(Buffer.from(`From: ${text}\r\n\r\n`))
  const [first, ...others] = addressesOf(head, 'from')
  const mailbox = first && others.length === 0 ? parseForeignAddress(first.address) : undefined
  return mailbox === undefined || 'fault' in mailbox ? undefined : mailbox.address
}

/** RCPT TO of submission. */
function inEnvelope(text: string): Read {
  const path = readPath(`RCPT TO:<${text}>`, 'of-devices')
  const mailbox = path && parseForeignAddress(path.address)
  return mailbox === undefined || 'fault' in mailbox ? undefined : mailbox.address
}

const ANN = 'ann@x.example'
/** Undefined where the door refuses the form, or where it has no meaning there. */
const TABLE: readonly [text: string, api: Read, submitted: Read, received: Read, envelope: Read][] = [
  [ANN, ANN, ANN, ANN, ANN],
  [`Ann <${ANN}>`, ANN, ANN, ANN, undefined],
  [`"Smith, Ann" <${ANN}>`, ANN, ANN, ANN, undefined],
  [`Smith, Ann <${ANN}>`, ANN, ANN, ANN, undefined],
  [`${ANN} (Cron Daemon)`, ANN, ANN, ANN, undefined],
  [`(Cron Daemon) ${ANN}`, ANN, ANN, ANN, undefined],
  [`Ann <${ANN}> (work)`, ANN, ANN, ANN, undefined],
  ['"a b"@x.example', '"a b"@x.example', '"a b"@x.example', '"a b"@x.example', '"a b"@x.example'],
  ['"ann"@x.example', ANN, ANN, ANN, ANN],
  ['ann.@x.example', undefined, '"ann."@x.example', '"ann."@x.example', '"ann."@x.example'],
  ['a..b@x.example', undefined, '"a..b"@x.example', '"a..b"@x.example', '"a..b"@x.example'],
  [`<@r.example:${ANN}>`, undefined, ANN, ANN, undefined],
  ['ann @ x . example', undefined, ANN, ANN, undefined],
  [`${ANN}, bob@x.example`, undefined, undefined, undefined, undefined],
  [`Ann <${ANN}> Bob <bob@x.example>`, undefined, undefined, undefined, undefined],
  ['ann@x’s.example', undefined, undefined, undefined, undefined],
  ['ann@x™.example', undefined, undefined, undefined, undefined],
  ['\u200bann@x.example', undefined, undefined, undefined, undefined],
  ['ann@x.example\u202c', undefined, undefined, undefined, undefined],
  ['an\u00adn@x.example', undefined, undefined, undefined, undefined],
  ['ann@x\u200d.example', undefined, undefined, undefined, undefined],
  ['ann\u3164@x.example', undefined, undefined, undefined, undefined],
  ['ann', undefined, undefined, undefined, undefined],
  ['', undefined, undefined, undefined, undefined],
]
for (const [text, ...expected] of TABLE)
  test(`${JSON.stringify(text)} is read as ${JSON.stringify(expected)}`, () => {
    assert.equal([atApi(text), inSubmitted(text), inReceived(text), inEnvelope(text)], expected)
  })

test.run()
