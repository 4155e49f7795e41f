/** What happened, for those who look and those who want to be told: a part of the composition root. */

import { eventRoutes } from '../interfaces/api/events/routes.ts'
import type { Route } from '../interfaces/api/route.ts'
import { webhookRoutes } from '../interfaces/api/webhooks/routes.ts'
import type { IdSource } from '../lib/ids.ts'
import { createWebhooks } from '../pipeline/webhooks/webhooks.ts'
import type { Sessions } from '../resources/accounts/sessions.ts'
import type { EventFeed } from '../resources/events/feed.ts'
import type { AppContext } from './context.ts'

export function eventRoutesOf(
  { config, clock, store, plans, secrets }: AppContext,
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
