import type { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertTold, MODERN_VERSIONS, openResend, requireData } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('resend packages read attachments')
const LOGO = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255])
let mailhorn: Mailhorn
let emailId = ''
test.before(async () => {
  mailhorn = await startMailhorn()
  const { emails } = await openResend(MODERN_VERSIONS[0]!, mailhorn)
  const { id } = requireData(
    await emails.send({
      from: 'Ann <ann@here.example>',
      to: 'delivered@simulator.test',
      subject: 'Hello',
      html: '<img src="cid:logo">',
      attachments: [
        { filename: 'logo.png', content: LOGO, contentId: 'logo' },
        { filename: 'note.txt', content: Buffer.from('note') },
      ],
    }),
  )
  emailId = id
})
test.after(() => mailhorn.close())

for (const release of MODERN_VERSIONS) {
  test(`${release.version}: as a list`, async () => {
    const resend: Resend = await openResend(release, mailhorn)
    const { object, has_more: hasMore, data } = requireData(await resend.emails.attachments.list({ emailId }))
    assert.equal([object, hasMore], ['list', false])
    assert.equal(
      data.map(one => [one.filename, one.size, one.content_type, one.content_disposition, one.content_id]),
      [
        ['logo.png', LOGO.length, 'image/png', 'inline', 'logo'],
        ['note.txt', 4, 'text/plain', 'attachment', undefined],
      ],
    )
  })

  test(`${release.version}: page by page`, async () => {
    const resend: Resend = await openResend(release, mailhorn)
    const first = requireData(await resend.emails.attachments.list({ emailId, limit: 1 }))
    assert.equal([first.has_more, first.data.length], [true, 1])
    const after = first.data[0]!.id
    const second = requireData(await resend.emails.attachments.list({ emailId, limit: 1, after }))
    assert.equal([second.has_more, second.data[0]!.filename], [false, 'note.txt'])
  })

  test(`${release.version}: one by one, and gets the bytes by a link that needs no key`, async () => {
    const resend: Resend = await openResend(release, mailhorn)
    const { data } = requireData(await resend.emails.attachments.list({ emailId }))
    const one = requireData(await resend.emails.attachments.get({ emailId, id: data[0]!.id }))
    assert.equal([one.object, one.id, one.filename], ['attachment', data[0]!.id, 'logo.png'])
    assert.ok(Date.parse(one.expires_at) > mailhorn.clock.now())
    const response = await fetch(one.download_url)
    assert.ok(LOGO.equals(Buffer.from(await response.arrayBuffer())))
  })

  test(`${release.version}: and is told of one that is not there`, async () => {
    const resend: Resend = await openResend(release, mailhorn)
    assertTold(await resend.emails.attachments.get({ emailId, id: emailId }), 'not_found', 404)
  })
}

test.run()
