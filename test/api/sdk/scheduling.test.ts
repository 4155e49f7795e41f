import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertTold, openResend, RESEND_VERSIONS, requireData } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('resend packages schedule emails')
const HOUR_MS = 3_600_000
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const MAIL = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'text' }
const inHours = (hours: number) => new Date(mailhorn.clock.now() + hours * HOUR_MS).toISOString()

for (const release of RESEND_VERSIONS) {
  const { version } = release

  test(`${version}: moves one, cancels it, and is told so`, async () => {
    const { emails } = await openResend(release, mailhorn)
    const { id } = requireData(await emails.send({ ...MAIL, scheduledAt: inHours(1) }))
    const scheduledAt = inHours(2)
    const moved = requireData(await emails.update({ id, scheduledAt }))
    assert.equal([moved.object, moved.id], ['email', id])
    const waiting = requireData(await emails.get(id))
    assert.equal([waiting.last_event, waiting.scheduled_at], ['scheduled', scheduledAt])
    const canceled = requireData(await emails.cancel(id))
    assert.equal([canceled.object, canceled.id], ['email', id])
    assert.is(requireData(await emails.get(id)).last_event, 'canceled')
    assertTold(await emails.cancel(id), 'validation_error', 422)
    assertTold(await emails.update({ id, scheduledAt }), 'validation_error', 422)
  })

  test(`${version}: one that nobody cancels is sent at its time`, async () => {
    const { emails } = await openResend(release, mailhorn)
    const { id } = requireData(await emails.send({ ...MAIL, scheduledAt: inHours(1) }))
    assert.is((await mailhorn.email(id)).status, 'scheduled')
    mailhorn.clock.advance(HOUR_MS)
    await mailhorn.emailWhen(id, 'delivered')
    assertTold(await emails.cancel(id), 'validation_error', 422)
  })

  test(`${version}: times that cannot be`, async () => {
    const { emails } = await openResend(release, mailhorn)
    const { id } = requireData(await emails.send({ ...MAIL, scheduledAt: inHours(1) }))
    for (const scheduledAt of ['in 1 hour', '2026-02-30T00:00:00Z', inHours(-1), inHours(9_000), '']) {
      const answer = await emails.send({ ...MAIL, scheduledAt })
      assertTold(answer, 'validation_error', 422)
      assert.match(answer.error!.message, /`scheduled_at`/)
      assertTold(await emails.update({ id, scheduledAt }), 'validation_error', 422)
    }
    const none = { id, scheduledAt: undefined } as unknown as { id: string; scheduledAt: string }
    assertTold(await emails.update(none), 'missing_required_field', 422)
  })
}

test.run()
