/** The scenarios there are. */
import type { Scenario } from './kit/scenario.ts'
import { accept } from './scenarios/accept.ts'
import { batch } from './scenarios/batch.ts'
import { bodies } from './scenarios/bodies.ts'
import { broadcast } from './scenarios/broadcast.ts'
import { claim } from './scenarios/claim.ts'
import { contacts } from './scenarios/contacts.ts'
import { dashboard } from './scenarios/dashboard.ts'
import { domains, e2e } from './scenarios/delivery.ts'
import { dns } from './scenarios/dns.ts'
import { drain } from './scenarios/drain.ts'
import { fairness } from './scenarios/fairness.ts'
import { inbound } from './scenarios/inbound.ts'
import { list } from './scenarios/list.ts'
import { memory, mix } from './scenarios/memory.ts'
import { postgres } from './scenarios/postgres.ts'
import { queue } from './scenarios/queue.ts'
import { queued } from './scenarios/queued.ts'
import { recovery } from './scenarios/recovery.ts'
import { rtt } from './scenarios/rtt.ts'
import { syncs } from './scenarios/syncs.ts'
import { tarpits } from './scenarios/tarpits.ts'
import { webhooks } from './scenarios/webhooks.ts'

export const scenarios: Readonly<Record<string, Scenario>> = {
  accept,
  batch,
  bodies,
  broadcast,
  e2e,
  domains,
  dns,
  drain,
  fairness,
  claim,
  contacts,
  dashboard,
  inbound,
  list,
  memory,
  mix,
  postgres,
  queue,
  queued,
  recovery,
  rtt,
  syncs,
  tarpits,
  webhooks,
}
