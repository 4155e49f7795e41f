import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createFetchAttachments } from '../../../../src/pipeline/accept/fetch-attachments.ts'
import { MESSAGE_BYTES_MAX } from '../../../../src/pipeline/accept/message-limits.ts'
import type { PreparedEmail } from '../../../../src/pipeline/accept/prepared.ts'
import { isRefusal, type Refusal } from '../../../../src/pipeline/accept/refusal.ts'
import {
  encodedFileSize,
  type RemoteAttachment,
  type StagedAttachment,
} from '../../../../src/pipeline/accept/submission.ts'
import type { OutboundReply, OutboundRequest } from '../../../../src/protocols/http-client/exchange.ts'
import { OutboundFault } from '../../../../src/protocols/http-client/fault.ts'
import { createBlobFiles } from '../../../../src/store/blobs/blobs.ts'
import { type StagedBlob, sha256 } from '../../../../src/store/blobs/staged.ts'
import { newId, submissionOf } from '../../../kit/mail.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('accept/fetch-attachments')
const ACCOUNT = newId(1)
const MIB = 1024 * 1024
const IN_A_REQUEST_MAX = 56 * MIB
const remote = (name: string): RemoteAttachment => ({
  url: `https://files.example/${name}`,
  filename: null,
  contentType: null,
  contentId: null,
})

function email(...attachments: RemoteAttachment[]): PreparedEmail {
  const { html, text, template, ...rest } = submissionOf()
  return {
    ...rest,
    from: rest.from!,
    subject: 'hi',
    templateId: null,
    content: { html, text },
    attachments,
    raw: null,
    encodedOctets: 1_000,
  }
}

/** Requests are answered when the test says so. */
async function open(t: TestContext) {
  const folder = await t.using(tempFolder())
  const clock = createManualClock()
  const requests: OutboundRequest[] = []
  const answers: ((result: OutboundReply | OutboundFault) => void)[] = []
  const send = (request: OutboundRequest) => {
    requests.push(request)
    return new Promise<OutboundReply | OutboundFault>(resolve => answers.push(resolve))
  }
  const blobs = createBlobFiles(join(folder.path, 'blobs'))
  const openFetching = createFetchAttachments({ outbound: { send, close() {} }, clock, blobs })
  const staged: StagedBlob[] = []
  const begin = (accountId = ACCOUNT) => openFetching(accountId, blob => staged.push(blob))
  /** Answers the oldest request, with a file or without one. */
  const answer = async (
    result: OutboundFault | Buffer | number = Buffer.from('x'),
    headers: OutboundReply['headers'] = {},
  ) => {
    await until(() => answers.length > 0)
    const request = requests[requests.length - answers.length]!
    if (result instanceof Buffer)
      for (let at = 0; at < result.length; at += MIB) await request.into!(result.subarray(at, at + MIB))
    const status = typeof result === 'number' ? result : 200
    answers.shift()!(result instanceof OutboundFault ? result : { status, headers, body: Buffer.alloc(0) })
  }
  const drafts = () => {
    const files = readdirSync(folder.path, { recursive: true, withFileTypes: true })
    return files.filter(entry => entry.isFile()).map(({ name }) => name)
  }
  return { clock, requests, answer, begin, staged, drafts }
}

const sizes = (result: StagedAttachment[] | Refusal) => {
  if (isRefusal(result)) throw new Error(result.message)
  return result.map(({ blob }) => blob.sizeBytes)
}

test('attachments: an email without remote attachments keeps its list', async t => {
  const whole = email()
  assert.is(await (await open(t)).begin().attachmentsOf(whole), whole.attachments)
})

test('remote attachments: fetched one after another within the time limit of the request', async t => {
  const { clock, requests, answer, begin } = await open(t)
  const fetching = begin()
  const first = fetching.attachmentsOf(email(remote('a'), remote('b')))
  await until(() => requests.length === 1)
  clock.advance(12_000)
  await answer()
  await answer(Buffer.from('xy'))
  assert.equal(sizes(await first), [1, 2])
  clock.advance(10_000)
  const second = fetching.attachmentsOf(email(remote('c')))
  await answer()
  assert.equal(sizes(await second), [1])
  assert.equal(
    requests.map(({ url, limitMs }) => [url.at(-1), limitMs]),
    [
      ['a', 30_000],
      ['b', 18_000],
      ['c', 8_000],
    ],
  )
})

test('remote attachments: a URL is fetched once per request', async t => {
  const { requests, answer, begin, staged } = await open(t)
  const fetching = begin()
  const emails = [email(remote('a'), remote('a')), email(remote('a')), email(remote('missing'))]
  const first = fetching.attachmentsOf(emails[0]!)
  await answer(Buffer.alloc(100_000, 'x'))
  assert.equal(sizes(await first), [100_000, 100_000])
  assert.equal(sizes(await fetching.attachmentsOf(emails[1]!)), [100_000])
  const missing = fetching.attachmentsOf(emails[2]!)
  await answer(404)
  assert.match(((await missing) as Refusal).message, /answers 404/)
  assert.match(((await fetching.attachmentsOf(emails[2]!)) as Refusal).message, /answers 404/)
  assert.is(requests.length, 2)
  assert.is(staged.length, 1)
  const anew = begin().attachmentsOf(emails[1]!)
  await answer()
  assert.equal(sizes(await anew), [1])
})

test('remote attachments: a large file is streamed to disk, a small one stays in memory, both named by hash', async t => {
  const { answer, begin, staged, drafts } = await open(t)
  const [large, small] = [Buffer.alloc(3 * MIB, 'abc'), Buffer.from('small')]
  const whole = begin().attachmentsOf(email(remote('a'), remote('b')))
  await answer(large)
  await answer(small)
  assert.equal(sizes(await whole), [3 * MIB, 5])
  assert.equal(
    staged.map(({ hash, body }) => [Buffer.from(hash), body && Buffer.from(body)]),
    [
      [Buffer.from(sha256(large)), null],
      [Buffer.from(sha256(small)), small],
    ],
  )
  assert.equal(drafts(), [staged[0]!.draft])
})

test('remote attachments: a failed fetch leaves no file on disk', async t => {
  const { requests, answer, begin, drafts } = await open(t)
  const broken = begin().attachmentsOf(email(remote('a')))
  await until(() => requests.length === 1)
  await requests[0]!.into!(Buffer.alloc(MIB))
  assert.is(drafts().length, 1)
  await answer(new OutboundFault('broken', 'the reply broke off'))
  assert.match(((await broken) as Refusal).message, /broke off/)
  assert.equal(drafts(), [])
})

test('remote attachments: the size limit of each is the space left in the message', async t => {
  const { requests, answer, begin } = await open(t)
  const whole = begin().attachmentsOf(email(remote('a'), remote('b')))
  await answer(Buffer.alloc(20 * MIB))
  await answer(Buffer.alloc(8 * MIB))
  const [first, second] = requests.map(({ limitBytes }) => limitBytes)
  assert.ok(first! > 28_000_000 && first! < 31_000_000)
  assert.ok(second! > 8 * MIB && second! < first! - 20_000_000)
  const encodedOctets = ((await whole) as StagedAttachment[]).reduce(
    (sum, file) => sum + encodedFileSize(file, file.blob.sizeBytes),
    1_000,
  )
  assert.ok(encodedOctets > 28 * MIB * 1.33 && encodedOctets <= MESSAGE_BYTES_MAX)
})

test('remote attachments: a full message has a limit of 0 bytes', async t => {
  const { requests, answer, begin } = await open(t)
  const full = { ...email(remote('a')), encodedOctets: MESSAGE_BYTES_MAX }
  const refused = begin().attachmentsOf(full)
  await answer(new OutboundFault('too-large', 'the reply is larger than 0 bytes'))
  assert.is(requests[0]!.limitBytes, 0)
  assert.match(((await refused) as Refusal).message, /too large/)
})

test('remote attachments: a file too large for one email is fetched again for another, and its bytes count', async t => {
  const { requests, answer, begin } = await open(t)
  const fetching = begin()
  const narrow = { ...email(remote('a')), encodedOctets: MESSAGE_BYTES_MAX - 3 * MIB }
  const refused = fetching.attachmentsOf(narrow)
  await answer(new OutboundFault('too-large', 'the reply is too large'))
  assert.ok(isRefusal(await refused))
  const taken = fetching.attachmentsOf(email(remote('a')))
  await answer(Buffer.alloc(10 * MIB))
  assert.equal(sizes(await taken), [10 * MIB])
  assert.equal(sizes(await fetching.attachmentsOf(email(remote('a')))), [10 * MIB])
  assert.is(requests.length, 2)
})

test('remote attachments: all files of a request may have 56 MB together', async t => {
  const { requests, answer, begin } = await open(t)
  const fetching = begin()
  for (const name of ['a', 'b']) {
    const whole = fetching.attachmentsOf(email(remote(name)))
    await answer(Buffer.alloc(27 * MIB))
    assert.equal(sizes(await whole), [27 * MIB])
  }
  const last = fetching.attachmentsOf(email(remote('c')))
  await answer(new OutboundFault('too-large', 'the reply is larger than that'))
  assert.is(requests.at(-1)!.limitBytes, IN_A_REQUEST_MAX - 54 * MIB)
  assert.ok(isRefusal(await last))
})

test('remote attachments: too many concurrent requests of an account are refused, others are not', async t => {
  const { requests, answer, begin } = await open(t)
  const run = async (fetching: ReturnType<typeof begin>) => {
    const result = await fetching.attachmentsOf(email(remote('a')))
    fetching.end()
    return result
  }
  const waiting = Array.from({ length: 52 }, () => run(begin()))
  const busy = await run(begin())
  assert.ok(isRefusal(busy) && busy.refused === 'busy')
  const other = run(begin(newId(2)))
  await until(() => requests.length === 3)
  for (let i = 0; i < 53; i++) await answer()
  for (const whole of await Promise.all([...waiting, other])) assert.not(isRefusal(whole))
})

for (const [path, given, type, filename, contentType] of [
  ['report.pdf', {}, 'text/plain', 'report.pdf', 'application/pdf'],
  ['report', {}, 'text/csv', 'report.csv', 'text/csv'],
  ['report', {}, undefined, 'report', 'application/octet-stream'],
  ['', {}, 'image/png', 'attachment-2.png', 'image/png'],
  ['', {}, undefined, 'attachment-2', 'application/octet-stream'],
  ['a/b%20c.txt?d=e.pdf', {}, undefined, 'b c.txt', 'text/plain'],
  ['%FF.txt', {}, undefined, '%FF.txt', 'text/plain'],
  ['a%0Db.txt', {}, undefined, 'ab.txt', 'text/plain'],
  ['report.pdf', { filename: 'mine' }, 'text/csv', 'mine', 'text/csv'],
  ['report.pdf', { filename: 'mine.txt' }, 'text/csv', 'mine.txt', 'text/plain'],
  ['report', { contentType: 'image/png' }, 'text/csv', 'report.png', 'image/png'],
] as const)
  test(`remote attachments: /${path} of type ${type} with ${JSON.stringify(given)} is ${filename}, ${contentType}`, async t => {
    const { answer, begin } = await open(t)
    const fetched = begin().attachmentsOf(email(remote('first.txt'), { ...remote(path), ...given }))
    await answer()
    await answer(Buffer.from('x'), type === undefined ? {} : { 'content-type': type })
    const files = (await fetched) as StagedAttachment[]
    assert.equal([files[1]!.filename, files[1]!.contentType], [filename, contentType])
  })

test('remote attachments: a compressed reply is refused, an uncompressed one is not', async t => {
  const { answer, begin, drafts } = await open(t)
  const compressed = begin().attachmentsOf(email(remote('a'), remote('b')))
  await answer(Buffer.from('x'), { 'content-encoding': 'identity' })
  await answer(Buffer.from('x'), { 'content-encoding': 'gzip' })
  const { message, errors } = (await compressed) as Refusal
  assert.is(message, 'Attachment 2: `path` cannot be fetched: the reply is compressed.')
  assert.is(errors![0]!.path, 'attachments[1].path')
  assert.equal(drafts(), [])
})

test('remote attachments: a file may fill the message, and not a byte more', async t => {
  const { answer, begin } = await open(t)
  const of = async (encodedOctets: number) => {
    const fetching = begin()
    const fetched = fetching.attachmentsOf({ ...email(remote('a.txt')), encodedOctets })
    await answer(Buffer.from('x'))
    return fetched.finally(fetching.end)
  }
  const [file] = (await of(0)) as StagedAttachment[]
  const room = MESSAGE_BYTES_MAX - encodedFileSize(file!, 1)
  assert.equal(sizes(await of(room)), [1])
  assert.is(
    ((await of(room + 1)) as Refusal).message,
    'Attachment 1: the file behind `path` is too large for a message.',
  )
})

test('remote attachments: where they are not fetched, the first one is refused, and files are kept', async t => {
  const { clock, answer, begin } = await open(t)
  const folder = await t.using(tempFolder())
  const blobs = createBlobFiles(join(folder.path, 'blobs'))
  const fetching = createFetchAttachments({ outbound: null, clock, blobs })(ACCOUNT, () => {})
  const fetched = begin().attachmentsOf(email(remote('a.txt')))
  await answer()
  const [local] = (await fetched) as StagedAttachment[]
  const mixed = { ...email(), attachments: [local!, remote('b')] }
  const { refused, errors } = (await fetching.attachmentsOf(mixed)) as Refusal
  assert.equal([refused, errors![0]!.path], ['invalid_attachment', 'attachments[1].path'])
  const whole = begin().attachmentsOf({ ...email(), attachments: [local!, remote('b.txt'), local!] })
  await answer(Buffer.from('xy'))
  assert.equal(sizes(await whole), [1, 2, 1])
})

test.run()
