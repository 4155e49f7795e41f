import * as assert from 'uvu/assert'
import { idText } from '../../../../src/lib/ids.ts'
import { type PreparedBatch, prepareBatch } from '../../../../src/pipeline/accept/batch.ts'
import type { BatchMode, PreparedEmail } from '../../../../src/pipeline/accept/prepared.ts'
import { isRefusal, type Refusal, refuseField } from '../../../../src/pipeline/accept/refusal.ts'
import type { Accepted, Submission } from '../../../../src/pipeline/accept/submission.ts'
import { postOver, submissionOf } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accept/batch')
const MIB = 1024 * 1024

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const subjects = () =>
    store.rows<{ subject: string }>('select subject from emails order by id').map(({ subject }) => subject)
  return { ...store, ...post, accountId, subjects }
}

/** Prepares an email without rendering: its content is that of the submission. */
const prepare = async ({ html, text }: Submission) => ({ content: { html, text } }) as PreparedEmail

const batchOf = (mode: BatchMode, ...submissions: Submission[]) => ({
  mode,
  emails: submissions.map((submission, index) => ({ index, submission })),
  leftOut: [],
})

async function prepared(mode: BatchMode, ...submissions: Submission[]): Promise<PreparedBatch> {
  const batch = await prepareBatch(prepare, batchOf(mode, ...submissions))
  if (isRefusal(batch)) throw new Error(batch.message)
  return batch
}

test('batch: its emails are stored by one command in the order of the request', async t => {
  const { submitBatch, accountId, rows, subjects } = await open(t)
  const names = Array.from({ length: 100 }, (_, i) => `email ${i}`)
  const accepted = (await submitBatch(
    accountId,
    names.map(subject => ({ subject })),
  )) as Accepted
  assert.equal(subjects(), names)
  assert.equal(
    accepted.ids.map(idText),
    rows<{ id: Uint8Array }>('select id from emails order by id').map(({ id }) => idText(id)),
  )
})

test('strict batch: a fault found in the transaction names its index and nothing is stored', async t => {
  const { submitBatch, accountId, subjects, clock } = await open(t)
  for (const [over, path] of [
    [{ from: 'x@elsewhere.test' }, '[2].from'],
    [{ scheduledAt: clock.now() }, '[2].scheduled_at'],
  ] as const) {
    const { message, errors } = (await submitBatch(accountId, [{}, {}, over])) as Refusal
    assert.match(message, /^\[2\]: /)
    assert.equal(
      errors!.map(error => error.path),
      [path],
    )
  }
  assert.equal(subjects(), [])
})

test('permissive batch: indexes are those of the request, whichever step refused an email', async t => {
  const { submitBatch, accountId, subjects, clock } = await open(t)
  const accepted = (await submitBatch(
    accountId,
    [
      { from: 'x@elsewhere.test' },
      { subject: 'a' },
      { to: Array.from({ length: 51 }, (_, i) => `a${i}@there.test`) },
      { subject: 'b' },
      { scheduledAt: clock.now() - 1 },
    ],
    { mode: 'permissive', firstIndex: 10, leftOut: [{ index: 3, message: 'unreadable' }] },
  )) as Accepted
  assert.equal(subjects(), ['a', 'b'])
  assert.is(accepted.ids.length, 2)
  assert.equal(
    accepted.leftOut.map(({ index }) => index),
    [3, 10, 12, 14],
  )
})

test('batch: consecutive emails with the same text share one content object', async () => {
  const same = submissionOf({ html: '<p>a</p>', text: 'a' })
  const { emails } = await prepared(
    'strict',
    same,
    { ...same, html: same.html!.concat('') },
    submissionOf({ html: '<p>a</p>', text: 'b' }),
    same,
  )
  const contents = emails.map(({ email }) => email.content)
  assert.is(contents[1], contents[0])
  assert.is.not(contents[2], contents[0])
  assert.is.not(contents[3], contents[2])
  assert.equal(contents[3], contents[0])
})

test('batch: the texts may have 56 MB together, with shared content counted once', async () => {
  const large = (letter: string) => submissionOf({ text: letter.repeat(20 * MIB) })
  const [a, b, c] = [large('a'), large('b'), large('c')]
  const refusal = (await prepareBatch(prepare, batchOf('strict', a, b, c))) as Refusal
  assert.equal([refusal.refused, refusal.errors?.[0]?.path], ['message_too_large', '[2]'])
  assert.match(refusal.message, /must not be larger than 56 MB in total/)
  const { emails, leftOut } = await prepared('permissive', a, a, a, b, c, submissionOf())
  assert.is(emails.length, 5)
  assert.equal(
    leftOut.map(({ index }) => index),
    [4],
  )
})

test('strict batch: no email after the first invalid one is prepared', async () => {
  let looked = 0
  const refusing = async () => {
    looked++
    return refuseField('invalid_field', 'subject', 'bad')
  }
  await prepareBatch(refusing, batchOf('strict', submissionOf(), submissionOf()))
  assert.is(looked, 1)
  await prepareBatch(refusing, batchOf('permissive', submissionOf(), submissionOf()))
  assert.is(looked, 3)
})

test.run()
