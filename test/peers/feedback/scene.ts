/**
 * A mail server that takes our mail and reports later that it could not deliver it: what comes of its reports
 * here.
 */
import * as assert from 'uvu/assert'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import type { Suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** It takes mail for three local parts at `there.example`, and fails later. */
export interface Reporter {
  port: number
  /** Local parts of an unknown user, of a full mailbox, and of a user whose host does not respond. */
  names: { gone: string; full: string; late: string }
  log(): string
  close(): Promise<void>
}

export const REPORTER_HOST = '127.0.0.6'
/** Domain of the return paths. */
export const RETURN_DOMAIN = 'send.here.example'
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A ${REPORTER_HOST}
`

/** @param start @param backPort where its reports are to go, at 127.0.0.1 */
export function describeReporter(test: Suite, start: (backPort: number) => Promise<Reporter>): void {
  let reporter: Reporter
  let mailhorn: Mailhorn

  test.before(async () => {
    const backPort = await freePort()
    reporter = await start(backPort)
    mailhorn = await startMailhorn({
      dns: true,
      zone: ZONE,
      mxPort: reporter.port,
      env: { MAILHORN_SMTP_INBOUND_LISTEN: `127.0.0.1:${backPort}` },
    })
    await mailhorn.verifiedDomain('here.example')
  })

  test.after(async () => {
    await mailhorn?.close()
    await reporter?.close()
  })

  type Name = keyof Reporter['names']
  const addressOf = (name: Name) => `${reporter.names[name]}@there.example`
  const send = (name: Name) =>
    mailhorn.send({ from: 'ann@here.example', to: addressOf(name), subject: name, text: 'hi' })
  const eventOf = async (id: string, type: string) => {
    // biome-ignore lint/suspicious/noExplicitAny: events of every shape
    const { events } = (await mailhorn.email(id)) as { events: any[] }
    return events.find(event => event.type === type)
  }
  const isSuppressed = (name: Name) =>
    mailhorn.rows('select 1 from suppressions where email = ?', addressOf(name)).length > 0

  test('a failed delivery comes back as a hard bounce, after delivered', async () => {
    const id = await send('gone')
    const { status, events } = await mailhorn.emailWhen(id, 'bounced')
    assert.is(status, 'bounced')
    const types = events.map(({ type }: { type: string }) => type)
    assert.equal(types, ['email.sent', 'email.delivered', 'email.bounced'])
    const { bounce } = events[2].data
    assert.equal([bounce.type, bounce.class], ['Permanent', 'invalid-recipient'], JSON.stringify(bounce))
    assert.ok(isSuppressed('gone'))
  })

  test('a full mailbox comes back as a soft bounce, and suppresses nothing', async () => {
    const id = await send('full')
    const { events } = await mailhorn.emailWhen(id, 'bounced')
    const { bounce } = events.at(-1).data
    assert.equal([bounce.type, bounce.subtype], ['Transient', 'MailboxFull'], JSON.stringify(bounce))
    assert.not(isSuppressed('full'))
  })

  test('a delay comes back as such, and leaves the email delivered', async () => {
    const id = await send('late')
    const event = await until(() => eventOf(id, 'email.delivery_delayed'))
    assert.ok(event.data.delay.reply.length > 0)
    assert.is((await mailhorn.email(id)).status, 'delivered')
  })

  test('every report was for one of our return paths, and was understood', () => {
    const rows = mailhorn.rows<{ kind: string; fault: string | null }>('select kind, fault from reports')
    assert.ok(rows.length >= 3, JSON.stringify(rows))
    assert.ok(
      rows.every(({ kind, fault }) => kind === 'bounce' && fault === null),
      JSON.stringify(rows),
    )
  })
}
