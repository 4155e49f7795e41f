import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { type Posthorn, startPosthorn } from '../../kit/posthorn.ts'
import { assertTold, insistOn } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('the resend package shares emails')
let posthorn: Posthorn
let resend: Resend
let id = ''
test.before(async () => {
  posthorn = await startPosthorn()
  resend = new Resend(posthorn.apiKey, { baseUrl: posthorn.baseUrl })
  id = await posthorn.send({
    from: 'ann@here.example',
    to: 'delivered@simulator.test',
    subject: 'Hello',
    text: 'the text',
  })
})
test.after(() => posthorn.close())

for (const options of [undefined, {}, { expiresIn: '2 hours' }])
  test(`with ${JSON.stringify(options)}`, async () => {
    const shared = insistOn(await resend.emails.share(id, options))
    assert.equal([shared.object, shared.id], ['email', id])
    assert.match(await (await fetch(shared.url)).text(), /the text/)
  })

test('and is told of a time that is too long', async () => {
  assertTold(await resend.emails.share(id, { expiresIn: '3 days' }), 'validation_error', 422)
})

test.run()
