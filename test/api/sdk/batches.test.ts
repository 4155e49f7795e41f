import type { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import {
  assertTold,
  MODERN_VERSIONS,
  openResend,
  RESEND_VERSIONS,
  requireData,
} from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('resend packages send batches')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

type Batch = Parameters<Resend['batch']['send']>[0]
const MAIL = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'text' }
const WRONG = { ...MAIL, to: 'nobody' }

function emailCount(): number {
  return mailhorn.rows<{ count: number }>('select count(*) as count from emails')[0]!.count
}

for (const release of RESEND_VERSIONS) {
  const { version } = release

  test(`${version}: each email as it was written, in its order`, async () => {
    const { batch } = await openResend(release, mailhorn)
    const emails = [
      { ...MAIL, subject: 'one', tags: [{ name: 'a', value: 'b' }] },
      { ...MAIL, subject: 'two', to: [MAIL.to, 'delivered+2@simulator.test'], html: '<p>two</p>' },
      { ...MAIL, subject: 'three', replyTo: 'r@here.example', headers: { 'X-A': 'a' } },
    ]
    const { data } = requireData(await batch.send(emails))
    assert.is(data.length, 3)
    const stored = await Promise.all(data.map(({ id }) => mailhorn.emailWhen(id, 'delivered')))
    assert.equal(
      stored.map(({ subject }) => subject),
      ['one', 'two', 'three'],
    )
    assert.equal(stored[0].tags, [{ name: 'a', value: 'b' }])
    assert.equal([stored[1].to.length, stored[1].html], [2, '<p>two</p>'])
    assert.equal([stored[2].reply_to, stored[2].headers], [['r@here.example'], { 'X-A': 'a' }])
  })

  test(`${version}: attachments and times of a batch are not lost`, async () => {
    const { batch } = await openResend(release, mailhorn)
    const scheduledAt = new Date(mailhorn.clock.now() + 3_600_000).toISOString()
    const attachments = [{ filename: 'a.txt', content: Buffer.from('hello') }]
    const { data } = requireData(
      await batch.send([
        { ...MAIL, attachments },
        { ...MAIL, scheduledAt },
      ] as Batch),
    )
    const [filed, waiting] = await Promise.all(data.map(({ id }) => mailhorn.email(id)))
    assert.equal([filed.attachments[0].filename, filed.attachments[0].size], ['a.txt', 5])
    assert.equal([waiting.status, waiting.scheduled_at], ['scheduled', scheduledAt])
  })

  test(`${version}: one bad email keeps all from being sent, and is named`, async () => {
    const { batch } = await openResend(release, mailhorn)
    const before = emailCount()
    const answer = await batch.send([MAIL, WRONG])
    assertTold(answer, 'validation_error', 422)
    assert.match(answer.error!.message, /^\[1\]: .*`to`/)
    assert.is(emailCount(), before)
  })

  test(`${version}: a hundred, and no more`, async () => {
    const { batch } = await openResend(release, mailhorn)
    const hundred = Array.from({ length: 100 }, (_, i) => ({ ...MAIL, subject: `${i}` }))
    const { data } = requireData(await batch.send(hundred))
    assert.is(new Set(data.map(({ id }) => id)).size, 100)
    assertTold(await batch.send([...hundred, MAIL]), 'validation_error', 422)
    assertTold(await batch.send([]), 'validation_error', 422)
  })

  test(`${version}: once what it sends again with its idempotencyKey`, async () => {
    const { batch } = await openResend(release, mailhorn)
    const options = { idempotencyKey: `batch-${version}` }
    const before = emailCount()
    const first = requireData(await batch.send([MAIL, MAIL], options))
    assert.equal(requireData(await batch.send([MAIL, MAIL], options)), first)
    assert.is(emailCount(), before + 2)
    assertTold(await batch.send([MAIL], options), 'invalid_idempotent_request', 409)
  })
}

for (const release of MODERN_VERSIONS) {
  const permissive = { batchValidation: 'permissive' } as const

  test(`${release.version}: the good ones of a permissive batch`, async () => {
    const { batch } = await openResend(release, mailhorn)
    const { data, errors } = requireData(
      await batch.send([WRONG, MAIL, { ...MAIL, subject: '' }], permissive),
    )
    assert.equal(
      errors.map(({ index, message }) => [index, /`(to|subject)`/.exec(message)?.[1]]),
      [
        [0, 'to'],
        [2, 'subject'],
      ],
    )
    assert.is((await mailhorn.emailWhen(data[0]!.id, 'delivered')).subject, 'hi')
    assert.is(data.length, 1)
  })

  test(`${release.version}: a permissive batch without a fault, and one of faults alone`, async () => {
    const { batch } = await openResend(release, mailhorn)
    const good = requireData(await batch.send([MAIL], permissive))
    assert.equal([good.data.length, good.errors], [1, []])
    const bad = requireData(await batch.send([WRONG], permissive))
    assert.equal([bad.data, bad.errors.length], [[], 1])
  })
}

test.run()
