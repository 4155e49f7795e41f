import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertTold, requireData } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('the resend package shares emails')
let mailhorn: Mailhorn
let resend: Resend
let id = ''
test.before(async () => {
  mailhorn = await startMailhorn()
  resend = new Resend(mailhorn.apiKey, { baseUrl: mailhorn.baseUrl })
  id = await mailhorn.send({
    from: 'ann@here.example',
    to: 'delivered@simulator.test',
    subject: 'Hello',
    text: 'the text',
  })
})
test.after(() => mailhorn.close())

for (const options of [undefined, {}, { expiresIn: '2 hours' }])
  test(`with ${JSON.stringify(options)}`, async () => {
    const shared = requireData(await resend.emails.share(id, options))
    assert.equal([shared.object, shared.id], ['email', id])
    assert.match(await (await fetch(shared.url)).text(), /the text/)
  })

test('and is told of a time that is too long', async () => {
  assertTold(await resend.emails.share(id, { expiresIn: '3 days' }), 'validation_error', 422)
})

test.run()
