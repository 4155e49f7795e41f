import { readdirSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import { createByteBlocks } from '../../../../../src/interfaces/api/body/body.ts'
import { parseJson } from '../../../../../src/interfaces/api/body/json.ts'
import { doBodyWork } from '../../../../../src/interfaces/api/emails/send-work.ts'
import type { BodyOf, BodyWork, SendWork } from '../../../../../src/interfaces/api/route/route.ts'
import { canonicalHash } from '../../../../../src/lib/canonical-json.ts'
import type { PreparedEmail } from '../../../../../src/pipeline/accept/prepared.ts'
import { decodeContent } from '../../../../../src/resources/emails/content.ts'
import { type BodyReading, openBodyReading } from '../../../../kit/bodies.ts'
import { newId } from '../../../../kit/mail.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http: work on large bodies')
const ACCOUNT = newId(1)
const SEND: SendWork = { accountId: ACCOUNT, mode: null, hashed: true }
let reading: BodyReading
test.before(async () => {
  reading = await openBodyReading()
})
test.after(() => reading.close())

const MAIL = { from: 'ann@here.example', to: 'bob@there.example', subject: 'hi', text: 'hello' }

/** Reads a body in a reader process. */
function readThere<W extends BodyWork>(value: unknown, work: W, over = reading): Promise<BodyOf<W>> {
  const blocks = createByteBlocks()
  blocks.add(Buffer.from(JSON.stringify(value)))
  return over.large.read('ann', blocks.end(), work)
}

/** Reads a body in this process. */
async function readHere<W extends BodyWork>(value: unknown, work: W): Promise<BodyOf<W>> {
  return doBodyWork(parseJson(Buffer.from(JSON.stringify(value))), work, reading.preparation)
}

/** Returns the result without the names of drafts, which differ. */
async function outcome(read: Promise<BodyOf<SendWork>>) {
  try {
    const { prepared, hash } = await read
    const { emails, blobs, ...rest } = prepared
    return {
      hash,
      ...rest,
      emails: emails.map(({ index, email }) => ({ index, ...plain(email) })),
      blobs: blobs.length,
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { status: error.status, ...error.body() }
  }
}

function plain({ content, attachments, ...rest }: PreparedEmail) {
  return {
    ...rest,
    content: 'encoding' in content ? decodeContent(content) : content,
    attachments: attachments.map(file => {
      if (!('blob' in file)) return file
      const { hash, sizeBytes, body, draft } = file.blob
      return {
        ...file,
        blob: { hash: [...hash], sizeBytes, body: body && [...body], isFile: draft !== null },
      }
    }),
  }
}

const bytes = fc.uint8Array({ minLength: 0, maxLength: 2_000 })
const content = fc.oneof(
  bytes.map(list => Buffer.from(list).toString('base64')),
  bytes.map(list => [...list]),
  bytes.map(list => Buffer.from(list).toJSON()),
  fc.constant(Buffer.alloc(70_000, 'x').toString('base64')),
  fc.constant([1, 2, 300]),
  fc.jsonValue(),
)
const attachment = fc.record(
  {
    filename: fc.string(),
    content,
    content_type: fc.constantFrom('text/plain', 'image/png', 'no type'),
    content_id: fc.constantFrom('a', 'b'),
    path: fc.constant('https://files.example/a.pdf'),
  },
  { requiredKeys: ['content'] },
)
const address = fc.constantFrom('ann@here.example', 'Bob <bob@there.example>', 'nobody', '')
const email = fc.record(
  {
    from: address,
    to: fc.oneof(address, fc.array(address, { maxLength: 60 })),
    subject: fc.oneof(fc.string(), fc.constant('a\nb')),
    html: fc.oneof(fc.string(), fc.constant('<p>ü</p>'.repeat(20_000)), fc.integer()),
    text: fc.string(),
    headers: fc.oneof(fc.dictionary(fc.constantFrom('X-A', 'To', 'x-a'), fc.string()), fc.jsonValue()),
    tags: fc.array(fc.oneof(fc.record({ name: fc.string() }), fc.integer()), { maxLength: 60 }),
    attachments: fc.array(attachment, { maxLength: 3 }),
    template_id: fc.constantFrom('tpl_x', 'tpl_01900000-0000-7000-8000-000000000000'),
    scheduled_at: fc.constantFrom('tomorrow', '2030-01-01T00:00:00Z'),
  },
  { requiredKeys: ['from', 'to', 'subject', 'text'] },
)

test('large body work: both processes give the same email, hash or refusal', async () => {
  const good = email.map(one => ({ ...one, ...MAIL, headers: {}, tags: [], html: '<p/>', template_id: null }))
  const modes = fc.constantFrom(null, 'strict', 'permissive')
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(email, good, fc.array(fc.oneof(email, good), { maxLength: 4 }), fc.jsonValue({ maxDepth: 2 })),
      modes,
      async (value, mode) => {
        if (typeof value !== 'object' || value === null) return
        const work = { ...SEND, mode }
        assert.equal(await outcome(readThere(value, work)), await outcome(readHere(value, work)))
      },
    ),
    { numRuns: 200 },
  )
})

test('large body work: a plain value is returned unchanged', async () => {
  const value = { a: ['x'.repeat(200_000)], b: { c: 1 } }
  assert.equal(await readThere(value, null), value)
})

test('large body work: the result contains stored texts and staged files only', async () => {
  const [html, file] = ['<p>hello</p>'.repeat(100_000), Buffer.alloc(1_000_000, 'x')]
  const body = { ...MAIL, html, attachments: [{ content: file.toString('base64') }, { content: 'YQ==' }] }
  const { prepared, hash } = await readThere(body, SEND)
  assert.equal(hash, canonicalHash(body))
  const { email: ready } = prepared.emails[0]!
  assert.ok('encoding' in ready.content && ready.content.body.length < 10_000)
  assert.equal(
    prepared.blobs.map(({ sizeBytes, body: inline, draft }) => [sizeBytes, inline?.length, draft !== null]),
    [
      [1_000_000, undefined, true],
      [1, 1, false],
    ],
  )
})

test('large body work: identical attachments are staged once', async () => {
  const file = { content: Buffer.alloc(100_000, 'y').toString('base64') }
  const mail = { ...MAIL, attachments: [file, file] }
  const { prepared } = await readThere([mail, mail], { ...SEND, mode: 'strict' })
  assert.is(prepared.blobs.length, 1)
  const drafts = prepared.emails.flatMap(({ email: { attachments } }) =>
    attachments.map(one => 'blob' in one && one.blob.draft),
  )
  assert.equal(new Set(drafts), new Set([prepared.blobs[0]!.draft]))
})

test('large body work: a refused body leaves no files except those in its answer', async t => {
  const own = await t.using(openBodyReading())
  const files = () =>
    readdirSync(own.store.blobFolder, { recursive: true }).filter(name => String(name).includes('/'))
  const attachments = [{ content: Buffer.alloc(100_000, 'z').toString('base64') }]
  const tooLarge = { ...MAIL, text: 'x'.repeat(41 * 1024 * 1024) }
  const batch = [{ ...MAIL, attachments }, tooLarge]
  const { prepared } = await readThere(batch, { ...SEND, mode: 'strict' }, own)
  assert.is(prepared.refusal?.refused, 'message_too_large')
  assert.equal(
    files(),
    prepared.blobs.map(({ draft }) => `drafts/${draft}`),
  )
})

for (const [what, change] of Object.entries({
  '51 recipients': { to: Array(51).fill('no address') },
  '100,000 recipients that are numbers': { to: Array(100_000).fill(1) },
  '100,000 recipients in all lists': { cc: Array(50_000).fill(1), bcc: Array(50_000).fill(1) },
  '100,000 addresses to reply to': { reply_to: Array(100_000).fill(1) },
  '100,000 tags': { tags: Array(100_000).fill(1) },
  '100,000 attachments': { attachments: Array(100_000).fill(1) },
}))
  test(`large body work: ${what} are one error, and no entry is validated`, async () => {
    const here = await outcome(readHere({ ...MAIL, ...change }, SEND))
    assert.equal(await outcome(readThere({ ...MAIL, ...change }, SEND)), here)
    if (!('errors' in here)) throw new Error('it was taken')
    assert.is(here.status, 422)
    assert.is(here.errors!.length, 1)
    assert.match(here.message, /\b(50|100)\b/)
  })

test('large body work: error messages with names of the client are shortened', async () => {
  const name = 'x '.repeat(1_000_000)
  const refused = await outcome(readThere({ ...MAIL, headers: { [name]: 'a' } }, SEND))
  assert.ok(JSON.stringify(refused).length < 4_000)
})

test('large body work: a body that kills its process twice is refused', async t => {
  const dying = await t.using(openBodyReading({ entry: new URL('./dying-reader.ts', import.meta.url) }))
  for (const refused of await Promise.all([1, 2, 3].map(() => outcome(readThere(MAIL, SEND, dying))))) {
    assert.is('status' in refused && refused.status, 413)
    assert.match('message' in refused ? refused.message : '', /exceeded the memory or time limit/)
  }
})

test('large body work: if the process is killed from outside twice, the reply is 503', async t => {
  const killed = await t.using(openBodyReading({ entry: new URL('./dying-reader.ts', import.meta.url) }))
  const refused = await killed.large.read('ann', [], null).catch((error: unknown) => error)
  assert.is((refused as ApiError).status, 503)
})

test('large body work: a body is read although its process dies once', async t => {
  const entry = new URL('./dying-once-reader.ts', import.meta.url)
  const dying = await t.using(openBodyReading({ entry }))
  assert.equal(await dying.large.read('ann', [], null), { read: true })
})

test('large body work: if no process can be started, the reply is 503', async t => {
  const missing = await t.using(openBodyReading({ entry: new URL('./no-such-file.ts', import.meta.url) }))
  const refused = await outcome(readThere(MAIL, SEND, missing))
  assert.is('status' in refused && refused.status, 503)
})

test.run()
