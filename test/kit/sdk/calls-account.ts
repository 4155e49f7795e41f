/** Calls about the account: keys, domains, webhooks, the request log and usage. */

import { until } from '../until.ts'
import { pages, UNKNOWN_ID } from './arguments.ts'
import type { Calls } from './calls.ts'
import { claimedDomain, domainOf, foreignDomain, keyOf, webhookOf } from './fixtures.ts'

type AccountMethod = `${'apiKeys' | 'domains' | 'webhooks' | 'logs' | 'usage'}.${string}` & keyof Calls

const TRACKED = { openTracking: true, clickTracking: false }

export const ACCOUNT_CALLS: Calls<AccountMethod> = {
  'apiKeys.create': async world => [
    [{ name: 'key' }],
    [{ name: 'key', permission: 'sending_access', domain_id: await domainOf(world) }],
    [{ name: 'key', permission: 'full_access' }],
  ],
  'apiKeys.list': async world => pages(await keyOf(world)),
  'apiKeys.update': async world => [[await keyOf(world), { name: 'other' }]],
  'apiKeys.remove': async world => [[await keyOf(world)]],

  'domains.create': ({ fresh }) => [
    [{ name: `${fresh('shop')}.example`, region: 'eu-west-1' }],
    [{ name: `${fresh('shop')}.example`, ...TRACKED }],
    [{ name: `${fresh('shop')}.example`, capabilities: { sending: 'enabled', receiving: 'disabled' } }],
    [{ name: `${fresh('shop')}.example`, tls: 'enforced' }],
    [{ name: `${fresh('shop')}.example`, customReturnPath: 'bounces' }],
    [{ name: `${fresh('shop')}.example`, trackingSubdomain: 'links' }],
  ],
  'domains.get': async world => [[await domainOf(world)]],
  'domains.list': async world => pages(await domainOf(world)),
  'domains.update': async world => {
    const id = await domainOf(world)
    return [
      [{ id, ...TRACKED }],
      [{ id, tls: 'opportunistic' }],
      [{ id, capabilities: { sending: 'enabled', receiving: 'disabled' } }],
      [{ id, trackingSubdomain: 'links' }],
    ]
  },
  'domains.verify': async world => [[await domainOf(world)]],
  'domains.remove': async world => [[await domainOf(world)]],
  'domains.claims.create': async world => [
    [{ name: await foreignDomain(world) }],
    [{ name: await foreignDomain(world), region: 'eu-west-1', ...TRACKED }],
    [{ name: await foreignDomain(world), customReturnPath: 'bounces' }],
    [{ name: await foreignDomain(world), trackingSubdomain: 'links' }],
  ],
  'domains.claims.get': async world => [[await claimedDomain(world)]],
  'domains.claims.verify': async world => [[await claimedDomain(world)]],

  'webhooks.create': () => [
    [{ endpoint: 'https://hooks.invalid/', events: ['email.sent'] }],
    [{ endpoint: 'https://hooks.invalid/', events: ['domain.updated', 'suppression.added'] }],
  ],
  'webhooks.get': async world => [[await webhookOf(world)]],
  'webhooks.list': async world => pages(await webhookOf(world)),
  'webhooks.update': async world => [
    [await webhookOf(world), { events: ['email.bounced'] }],
    [await webhookOf(world), { endpoint: 'https://other.invalid/', status: 'disabled' }],
  ],
  'webhooks.remove': async world => [[await webhookOf(world)]],
  'webhooks.rotateSigningSecret': async world => [[await webhookOf(world)]],
  'webhooks.verify': async world => {
    const { headers, body, secret } = await world.receivedEvent()
    const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map(
      name => headers[`webhook-${name}`] ?? '',
    )
    return [
      [
        {
          ...{ payload: body, webhookSecret: secret },
          headers: { id: id!, timestamp: timestamp!, signature: signature! },
        },
      ],
    ]
  },
  'webhooks.events.list': async world => {
    const { webhookId, eventId } = await world.receivedEvent()
    return [[{ webhookId }], [{ webhookId, limit: 1 }], [{ webhookId, after: eventId }]]
  },
  'webhooks.events.get': async world => {
    const { webhookId, eventId } = await world.receivedEvent()
    return [[{ webhookId, eventId }]]
  },
  'webhooks.events.replay': async world => {
    const { webhookId, eventId } = await world.receivedEvent()
    return [[{ webhookId, eventId }]]
  },
  'webhooks.events.attempts.list': async world => {
    const { webhookId, eventId } = await world.receivedEvent()
    // The attempt is recorded a little later than the request arrives.
    const after = await until(async () => {
      const { data } = await world.resend.webhooks.events.attempts.list({ webhookId, eventId })
      return data!.data[0]?.id
    })
    return [[{ webhookId, eventId }], [{ webhookId, eventId, limit: 1 }], [{ webhookId, eventId, after }]]
  },

  'logs.list': async world => pages((await world.resend.logs.list()).data?.data[0]?.id ?? UNKNOWN_ID),
  'logs.get': async world => [[(await world.resend.logs.list()).data?.data[0]?.id ?? UNKNOWN_ID]],
  'usage.get': () => [[]],
}
