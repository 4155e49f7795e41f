/**
 * Emails that have not arrived, each for a reason of its own: what the service says of them, and words that
 * would be untrue. Tests hold every place that shows a reason to this table.
 */
import { type FakeMx, startFakeMx } from './fake-mx.ts'
import type { Mailhorn } from './mailhorn.ts'
import type { TestContext } from './suite.ts'
import { until } from './until.ts'

export interface Undelivered {
  name: string
  to: string
  /** Reply to RCPT or to the message. */
  reply?: { at: 'rcpt' | 'dot'; text: string }
  /** Delay of the scheduled time, in ms. */
  inMs?: number
  /** Whether the operator holds the domain of the recipient. */
  isHeld?: true
  code: string
  summary: string | RegExp
  /** Event that tells a webhook of it, if there is one. */
  event?: 'email.bounced' | 'email.delivery_delayed' | 'email.suppressed'
  untrue: RegExp
}

const RETRIES = /retries automatically/i
const MINUTE_MS = 60_000

/** The silent server comes last: it needs the clock. */
export const UNDELIVERED: readonly Undelivered[] = [
  {
    ...{ name: 'a policy, with "rate" in a word', to: 'policy@there.example' },
    reply: { at: 'dot', text: '550 5.7.0 Message rejected by corporate policy' },
    ...{ code: 'policy', summary: 'Rejected by a policy of there.example.', event: 'email.bounced' },
    untrue: /rate limit|limits how much|retries/i,
  },
  {
    ...{ name: 'relaying denied', to: 'relay@there.example' },
    reply: { at: 'rcpt', text: '454 4.7.1 <relay@there.example>: Relay access denied' },
    code: 'relay_denied',
    summary: 'mx.there.example does not accept mail for there.example (relay denied).',
    ...{ event: 'email.delivery_delayed', untrue: /greylist/i },
  },
  {
    ...{ name: 'a blocklist', to: 'listed@there.example' },
    reply: { at: 'rcpt', text: '554 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org' },
    code: 'blocked',
    summary: 'mx.there.example blocks the sending IP address, which is listed by Spamhaus.',
    ...{ event: 'email.bounced', untrue: RETRIES },
  },
  {
    ...{ name: 'no such mailbox', to: 'nobody@there.example' },
    reply: { at: 'rcpt', text: '553 5.1.1 no mailbox by that name' },
    ...{ code: 'no_such_user', summary: 'The mailbox nobody@there.example does not exist.' },
    ...{ event: 'email.bounced', untrue: RETRIES },
  },
  {
    ...{ name: 'a full mailbox', to: 'full@there.example' },
    reply: { at: 'rcpt', text: '452 4.2.2 The recipient is over quota' },
    ...{ code: 'mailbox_full', summary: 'The mailbox full@there.example is full.' },
    ...{ event: 'email.delivery_delayed', untrue: /limits how much/ },
  },
  {
    ...{ name: 'a connection that is refused', to: 'a@refused.example' },
    ...{ code: 'connection_refused', summary: 'mx.refused.example refused the connection.' },
    ...{ event: 'email.delivery_delayed', untrue: /temporarily rejected|deferred the message/ },
  },
  {
    ...{ name: 'a domain that does not exist', to: 'a@gmial.example' },
    ...{ code: 'domain_not_found', summary: 'The domain gmial.example does not exist.' },
    ...{ event: 'email.delivery_delayed', untrue: /server/ },
  },
  {
    ...{ name: 'a null MX', to: 'a@closed.example' },
    ...{ code: 'null_mx', summary: 'The domain closed.example does not accept email (null MX).' },
    ...{ event: 'email.bounced', untrue: /server/ },
  },
  {
    ...{ name: 'a scheduled email', to: 'later@there.example', inMs: 1_440 * MINUTE_MS },
    ...{ code: 'scheduled', summary: /^Will be sent at \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/ },
    untrue: /next attempt|again/i,
  },
  {
    ...{ name: 'a simulated suppression', to: 'suppressed@simulator.test' },
    code: 'suppressed',
    summary: 'Simulated: Not sent: suppressed@simulator.test is on the suppression list.',
    ...{ event: 'email.suppressed', untrue: /does not exist|typo/ },
  },
  {
    ...{ name: 'held mail', to: 'a@held.example', isHeld: true },
    ...{ code: 'held_by_operator', summary: 'Held by the operator: their server is down.' },
    untrue: /next attempt|just now/i,
  },
  {
    ...{ name: 'a server that is silent, at first', to: 'a@silent.example' },
    ...{ code: 'in_progress', summary: /^In progress since \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/ },
    untrue: /ago|next attempt/i,
  },
]

export const SILENT = {
  to: 'a@silent.example',
  code: 'timed_out',
  summary: 'mx.silent.example did not answer in time while its greeting was awaited.',
}

export const UNDELIVERED_ZONE = `
  there.example       MX 10 mx.there.example
  mx.there.example    A 127.0.0.2
  held.example        MX 10 mx.there.example
  silent.example      MX 10 mx.silent.example
  mx.silent.example   A 127.0.0.3
  refused.example     MX 10 mx.refused.example
  mx.refused.example  A 127.0.0.9
  closed.example      MX 0 .
`

/** A host that says what a row tells it, and a silent one on the same port. */
export async function startUndeliveredHosts(t: TestContext) {
  let reply: Undelivered['reply']
  const message = (at: 'rcpt' | 'dot') => (reply?.at === at ? reply.text : undefined)
  const mx: FakeMx = await t.using(
    startFakeMx({ host: '127.0.0.2', at: { rcpt: () => message('rcpt'), dot: () => message('dot') } }),
  )
  await t.using(startFakeMx({ host: '127.0.0.3', port: mx.port, at: { banner: 'hang' } }))
  /** Sends an email for each row, one after the other, and returns their ids once each has its reason. */
  const sendAll = async (mailhorn: Mailhorn) => {
    const session = await mailhorn.signIn()
    const ids: string[] = []
    for (const row of UNDELIVERED) {
      reply = row.reply
      const hold = { domain: 'held.example', reason: 'their server is down' }
      if (row.isHeld) await mailhorn.call('POST', '/queue/hold', { session, body: hold })
      const at = new Date(mailhorn.clock.now() + (row.inMs ?? 0)).toISOString()
      const id = await mailhorn.send({
        ...{ from: 'ann@here.example', to: row.to, subject: row.name, text: 'hi' },
        ...(row.inMs !== undefined && { scheduled_at: at }),
      })
      await until(async () => (await mailhorn.email(id)).explanation.code === row.code)
      ids.push(id)
    }
    return ids
  }
  return { port: mx.port, sendAll }
}
