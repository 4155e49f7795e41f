/** What happened, for those who look and those who want to be told: a part of the composition root. */
import type { Sessions } from './accounts/sessions.ts'
import type { EventFeed } from './events/feed.ts'
import type { Route } from './http/route.ts'
import { eventRoutes } from './http/routes/events.ts'
import { webhookRoutes } from './http/routes/webhooks.ts'
import type { IdSource } from './lib/ids.ts'
import type { Parts } from './parts.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

export function tellingRoutes(
  { config, clock, store, plans, secrets }: Parts,
  newId: IdSource,
  watching: { feed: EventFeed; sessions: Sessions },
): Route[] {
  const { mailHost } = config
  const { allowInsecureLoopback } = config.webhooks
  const { allowLoopback } = config.fetch
  const rules = { allowInsecureLoopback, allowLoopback }
  return [
    ...eventRoutes({ ...watching, store, horizonOf: plans.horizonOf, clock }),
    ...webhookRoutes({ webhooks: createWebhooks({ ...store, clock, newId, secrets, ...rules }), mailHost }),
  ]
}
