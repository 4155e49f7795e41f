/** Causes every event that a webhook can be told of. */
import * as assert from 'uvu/assert'
import { EVENT_TYPES } from '../../src/resources/events/types.ts'
import type { Mailhorn } from './mailhorn.ts'
import { sendMail } from './smtp-client.ts'
import { until } from './until.ts'
import type { Sink } from './webhook-sink.ts'

const MAIL = { from: 'ann@mine.example', subject: 's', text: 't' }
/** Local parts of the simulator that cause the events of deliveries. */
const SIMULATED = ['bounced', 'complained', 'suppressed', 'delayed', 'failed', 'clicked']

/** Causes every event type through the interfaces that users have. */
export async function causeEveryEvent(mailhorn: Mailhorn, session: string) {
  const call = async (method: string, path: string, body?: object) => {
    const answer = await mailhorn.call(method, path, { session, ...(body && { body }) })
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const domain = await mailhorn.verifiedDomain('mine.example')
  for (const name of SIMULATED)
    await call('POST', '/emails', {
      ...MAIL,
      to: `${name}@simulator.test`,
      tags: [{ name: 'a', value: 'b' }],
    })
  const scheduled = await call('POST', '/emails', {
    ...{ ...MAIL, to: 'delivered@simulator.test' },
    scheduled_at: new Date(mailhorn.clock.now() + 3_600_000).toISOString(),
  })
  await call('POST', `/emails/${scheduled.id}/cancel`)
  const data = 'From: bob@there.example\r\nTo: box@mine.example\r\nSubject: hello\r\n\r\nhello'
  const reply = await sendMail(mailhorn.app.inboundAddress!, {
    ...{ from: 'bob@there.example', to: 'box@mine.example', data },
  })
  assert.match(reply, /^250 /)
  const audience = await call('POST', '/audiences', { name: 'readers' })
  const contacts = `/audiences/${audience.id}/contacts`
  const contact = await call('POST', contacts, { email: 'Cleo@there.example', first_name: 'Cleo' })
  await call('PATCH', `${contacts}/${contact.id}`, { last_name: 'Doe' })
  await call('DELETE', `${contacts}/${contact.id}`)
  await call('DELETE', `/domains/${domain.id}`)
  return { domain, contact }
}

/** Waits until the sink, which must be subscribed to all, has had one of each. */
export async function untilEveryEvent(mailhorn: Mailhorn, sink: Sink): Promise<void> {
  const missing = () => EVENT_TYPES.filter(type => !sink.events().some(event => event.type === type))
  // retries are due only when the clock is moved on; while requests are in progress it moves slowly, so that
  // they do not reach their time limit
  const isRequestInProgress = () =>
    mailhorn.rows('select 1 from webhook_deliveries where lease_until is not null').length > 0
  let looks = 0
  await until(() => {
    if (!isRequestInProgress() || ++looks % 100 === 0) mailhorn.clock.advance(500)
    return missing().length === 0
  })
}
