/** A valid body for each route that needs one, for the tests over all routes. */
import type { Route } from '../../src/interfaces/api/route/route.ts'
import { type Id, wireId } from '../../src/lib/ids.ts'
import { addAccount } from './accounts.ts'
import { insertRows } from './database.ts'
import type { Mailhorn } from './mailhorn.ts'
import { newId } from './new-id.ts'

type Body = Record<string, unknown>

let made = 0
/** Token that the fake DNS provider of these tests accepts. */
export const GOOD_TOKEN = 'good-token'

/** Bodies that can be sent repeatedly. A new route with a required body must be added here. */
const BODIES = new Map<string, (mailhorn: Mailhorn) => Body>([
  ['POST /auth/login', ({ admin }) => ({ ...admin })],
  [
    'POST /auth/password',
    ({ admin }) => ({ current_password: admin.password, new_password: admin.password }),
  ],
  ['POST /accounts', () => ({ name: 'shop', owner_email: `owner${++made}@shop.example` })],
  ['PATCH /accounts/:id', () => ({ name: 'mine' })],
  ['POST /access-tokens', () => ({ name: 'program', scopes: ['domains:read'] })],
  ['PATCH /access-tokens/:id', () => ({ name: 'renamed' })],
  ['POST /api-keys', () => ({ name: 'key' })],
  ['PATCH /api-keys/:id', () => ({ name: 'renamed' })],
  ['POST /domains', () => ({ name: `d${++made}.example` })],
  ['POST /domains/claim', mailhorn => ({ name: aDomainOfAnother(mailhorn) })],
  ['PATCH /domains/:id', () => ({ open_tracking: true })],
  ['POST /domains/:id/autoconfigure', () => ({ dns_api_token: GOOD_TOKEN })],
  ['POST /emails', mail],
  ['POST /emails/batch', mail],
  ['POST /emails/:id/share', () => ({ expires_in: 60 })],
  ['PATCH /emails/:id', ({ clock }) => ({ scheduled_at: new Date(clock.now() + 3_600_000).toISOString() })],
  ['PATCH /inbound/:id', () => ({ unread: false })],
  ['POST /inbound/batch/update', () => ({ ids: [wireId('inb', newId(0))], unread: false })],
  ['POST /inbound/batch/remove', () => ({ ids: [wireId('inb', newId(0))] })],
  ['POST /inbound/:id/forward', () => ({ from: 'ann@here.example', to: 'delivered@simulator.test' })],
  ['POST /inbound/:id/reply', () => ({ from: 'ann@here.example', text: 'hello' })],
  ['POST /inbound/routes', () => ({ match: `bob${++made}@here.example`, action: 'drop' })],
  ['POST /inbound/routes/test', () => ({ address: 'bob@here.example' })],
  ['POST /suppressions', () => ({ email: 'nobody@there.example' })],
  ['POST /suppressions/batch/add', () => ({ emails: ['nobody@there.example'] })],
  ['POST /suppressions/batch/remove', () => ({ emails: ['nobody@there.example'] })],
  ['POST /suppressions/import', () => ({ data: [{ email: 'gone@there.example', reason: 'bounce' }] })],
  [
    'POST /alerts/silence',
    ({ clock }) => ({ kind: 'clock', until: new Date(clock.now() + 3_600_000).toISOString() }),
  ],
  ['POST /alerts/unsilence', () => ({ kind: 'clock' })],
  ['POST /destinations/resume', () => ({ destination: 'mx.held.example' })],
  ['POST /destinations/slow', () => ({ destination: 'mx.held.example', messages_per_minute: 10 })],
  ['POST /destinations/unslow', () => ({ destination: 'mx.held.example' })],
  ['POST /queue/hold', () => ({ domain: 'held.example' })],
  ['POST /queue/release', () => ({ domain: 'held.example' })],
  ['POST /queue/retry', () => ({ domain: 'held.example' })],
  ['POST /queue/cancel', () => ({ domain: 'held.example' })],
  ['POST /installation/ban-domain', () => ({ domain: 'banned.example' })],
  ['POST /installation/unban-domain', () => ({ domain: 'banned.example' })],
  ['PUT /installation/mode', () => ({ mode: 'normal' })],
  ['POST /installation/backups/verify', () => ({ name: '20261128T030000Z' })],
  ['POST /installation/certificates/order', () => ({ host: 'mailhorn.test' })],
  ['POST /installation/smtp-test', () => ({})],
  ['POST /setup/plan', setupAnswers],
  ['POST /setup/checks', setupAnswers],
  ['POST /setup/test-email', () => ({ from: 'ann@here.example', to: ['delivered@simulator.test'] })],
  ['POST /audiences', () => ({ name: 'a name' })],
  ['PATCH /audiences/:id', () => ({ name: 'a name' })],
  ['POST /segments', () => ({ name: 'a name' })],
  ['PATCH /segments/:id', () => ({ name: 'a name' })],
  ['POST /audiences/:id/contacts', () => ({ email: `c${++made}@there.example` })],
  ['POST /audiences/:id/segments/count', () => ({ filters: [{ field: 'email', op: 'exists' }] })],
  ['POST /audiences/:id/segments', () => ({ name: 'a name', filters: [{ field: 'email', op: 'exists' }] })],
  [
    'PATCH /audiences/:id/contacts/:contact_id/topics',
    mailhorn => ({ topics: [{ id: aTopic(mailhorn), subscription: 'opt_in' }] }),
  ],
  [
    'PATCH /contacts/:contact_id/topics',
    mailhorn => ({ topics: [{ id: aTopic(mailhorn), subscription: 'opt_in' }] }),
  ],
  ['POST /contacts', () => ({ email: `c${++made}@there.example` })],
  ['POST /contact-properties', () => ({ key: `key${++made}`, type: 'string' })],
  ['POST /topics', () => ({ name: 'a name' })],
  ['POST /broadcasts', draftBroadcast],
  ['POST /broadcasts/:id/test', () => ({ to: 'delivered@simulator.test' })],
  ['POST /templates', () => ({ name: 'a name' })],
  ['POST /webhooks', () => ({ url: 'https://hooks.invalid/', events: ['domain.verified'] })],
  ['PUT /templates/:id', () => ({ name: 'a name' })],
  ['PATCH /templates/:id', () => ({ name: 'a name', reply_to: 'replies@here.example' })],
])

/** A new account has verified it. */
function aDomainOfAnother(mailhorn: Mailhorn): string {
  const name = `d${++made}.example`
  addAccount(mailhorn, name)
  const [account] = mailhorn.rows<{ id: Id }>('select id from accounts where name = ?', name)
  const now = mailhorn.clock.now()
  insertRows(mailhorn, 'domains', [
    {
      ...{ id: newId(now), account_id: account!.id, name, region: 'us-west-2', status: 'verified' },
      ...{ verification_token: 'token', open_tracking: 0, click_tracking: 0, sending: 1, receiving: 1 },
      ...{ tls: 'opportunistic', created_at: now, verified_at: now },
    },
  ])
  return name
}

function aTopic(mailhorn: Mailhorn): string {
  const [topic] = mailhorn.rows<{ id: Id }>('select id from topics limit 1')
  return wireId('top', topic!.id)
}

/** To an audience of the first account. */
export function draftBroadcast(mailhorn: Mailhorn): Body {
  const [audience] = mailhorn.rows<{ id: Id }>('select id from audiences limit 1')
  return {
    ...{ audience_id: wireId('aud', audience!.id), from: 'ann@here.example' },
    ...{ subject: 'hi', text: 'hello' },
  }
}

function setupAnswers(): Body {
  return { mail_host: 'mail.here.example', addresses: ['203.0.113.7'], contact: 'ops@here.example' }
}

function mail(): Body {
  return { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
}

/**
 * Returns a body that the route accepts; for a list, its elements.
 * @throws when the route needs a body and none is listed here
 */
export function goodBodyFor(mailhorn: Mailhorn, { method, path, body }: Route): Body {
  const make = BODIES.get(`${method} ${path}`)
  if (make) return make(mailhorn)
  if (body?.safeParse({}).success) return {}
  throw new Error(`${method} ${path}: there is no body for it here`)
}
