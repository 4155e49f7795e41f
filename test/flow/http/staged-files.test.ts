import * as assert from 'uvu/assert'
import { largeBlobs } from '../../kit/large-blobs.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('files of requests')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const GOOD = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
/** Read on the main thread, and on that of large bodies. */
const SIZES = { small: 70_000, large: 500_000 }
const REFUSED = { status: 403, name: 'validation_error', says: /not registered/ }

const attachment = (bytes: number, fill: string) => ({
  content: Buffer.alloc(bytes, fill).toString('base64'),
})

function call(body: object, path = '/emails', headers: Record<string, string> = {}) {
  return ['POST', path, { key: mailhorn.apiKey, headers, body }] as const
}

for (const [what, bytes] of Object.entries(SIZES)) {
  test(`a refused ${what} request leaves no file`, async () => {
    const attachments = [attachment(bytes, 'a'), attachment(bytes, 'b')]
    const body = { ...GOOD, to: 'bob@far.example', attachments }
    await refuses(mailhorn, [...call(body)], REFUSED)
    await refuses(mailhorn, [...call([{ ...GOOD, attachments }, body], '/emails/batch')], {
      ...REFUSED,
      says: /^\[1\]/,
    })
  })

  test(`a file of an earlier ${what} request is kept when a later one is refused`, async () => {
    const attachments = [attachment(bytes, 'c')]
    const id = await mailhorn.send({ ...GOOD, attachments })
    await mailhorn.emailWhen(id, 'delivered')
    await refuses(mailhorn, [...call({ ...GOOD, to: 'bob@far.example', attachments })], REFUSED)
    const again = await mailhorn.send({ ...GOOD, attachments })
    await mailhorn.emailWhen(again, 'delivered')
  })

  test(`a repeated ${what} request stores no further file`, async () => {
    const body = { ...GOOD, attachments: [attachment(bytes, 'd')] }
    const headers = { 'idempotency-key': `files-${what}` }
    const first = await mailhorn.call(...call(body, '/emails', headers))
    const before = largeBlobs(mailhorn)
    const second = await mailhorn.call(...call(body, '/emails', headers))
    assert.equal([second.status, second.body], [200, first.body])
    const other = await mailhorn.call(
      ...call({ ...body, attachments: [attachment(bytes, 'e')] }, '/emails', headers),
    )
    assert.is(other.status, 409)
    assert.equal(largeBlobs(mailhorn), before)
  })

  test(`emails left out of a permissive ${what} batch leave no file`, async () => {
    const mails = [
      { ...GOOD, attachments: [attachment(bytes, 'f')] },
      { ...GOOD, to: 'bob@far.example', attachments: [attachment(bytes, 'g')] },
    ]
    const before = largeBlobs(mailhorn).length
    const answer = await mailhorn.call(
      ...call(mails, '/emails/batch', { 'x-batch-validation': 'permissive' }),
    )
    assert.equal([answer.status, answer.body.data.length, answer.body.errors.length], [200, 1, 1])
    assert.is(largeBlobs(mailhorn).length, before + 1)
  })
}

test('a long text in a large request is stored and sent unchanged', async () => {
  const html = `<p>${'ü€ '.repeat(200_000)}</p>`
  const id = await mailhorn.send({ ...GOOD, html })
  assert.is((await mailhorn.emailWhen(id, 'delivered')).html, html)
})

test.run()
