/**
 * Broadcasts: what the HTTP door offers of them, and their sending in the background. Part of the composition
 * root.
 */

import { broadcastRoutes } from '../interfaces/api/broadcasts/routes.ts'
import type { Route } from '../interfaces/api/route.ts'
import { every } from '../lib/clock.ts'
import { type Id, type IdSource, idKey } from '../lib/ids.ts'
import { singleFlight } from '../lib/single-flight.ts'
import { throttledLog } from '../lib/throttled-log.ts'
import type { Accept } from '../pipeline/accept/accept.ts'
import type { Preparation } from '../pipeline/accept/prepare.ts'
import { BROADCAST_DUE } from '../pipeline/broadcasts/broadcast-rows.ts'
import { createBroadcasts } from '../pipeline/broadcasts/broadcasts.ts'
import { type LinkBase, linkFault } from '../pipeline/broadcasts/link-base.ts'
import { type RunnerOptions, startBroadcastRunner } from '../pipeline/broadcasts/runner.ts'
import { mailOfBroadcast } from '../pipeline/broadcasts/send.ts'
import type { QueueAdmin } from '../pipeline/queue/queue-admin.ts'
import { isLaboratory } from '../resources/domains/checker.ts'
import type { LinkTermsIds } from '../resources/emails/link-terms.ts'
import { findTemplate } from '../resources/templates/template-rows.ts'
import { MISSED } from '../store/command.ts'
import type { BroadcastRow } from '../store/schema.ts'
import type { AppContext } from './context.ts'

const HOUR_MS = 3_600_000
/** Where others change the store, too: hints of what is due may get lost. */
const LOOK_EVERY_MS = 30_000

interface BroadcastingOptions {
  newId: IdSource
  accept: Accept
  preparation: Preparation
  hands: QueueAdmin
  linkTerms(): Promise<LinkTermsIds>
  /** Where the API is reached; to be called once the door is open. */
  baseUrl(): string
}

interface Broadcasting {
  routes: Route[]
  /** Begins to send what is due, where this process sends; once links can be made. */
  start(): Promise<void>
}

/** @param started gets what is to be closed, in the order of the starts */
export function startBroadcasts(
  parts: AppContext,
  { newId, accept, preparation, hands, linkTerms, baseUrl }: BroadcastingOptions,
  started: (() => unknown)[],
): Broadcasting {
  const { config, clock, log, store } = parts
  const { db, run } = store
  // cut off by a stop or a kill, the next start does the rest
  const goingOn = singleFlight<Pick<BroadcastRow, 'accountId' | 'id'>>(
    async broadcasts => {
      for (const broadcast of broadcasts) await hands.resume(mailOfBroadcast(broadcast))
    },
    ({ id }) => idKey(id),
    error =>
      log.error(
        { event: 'broadcast_resume_failed', err: error },
        'Held emails of a broadcast could not be released; they are released at the next start',
      ),
  )
  started.push(goingOn.stop)
  const linkBase = (): LinkBase =>
    config.tracking.baseUrl
      ? { url: config.tracking.baseUrl, setting: 'tracking.base_url' }
      : { url: baseUrl(), setting: 'http.base_url' }
  const broadcasts = createBroadcasts({
    ...{ db, run, clock, newId, accept, preparation, linkBase },
    simulatorDomains: parts.simulatorDomains,
    resumeEmails: goingOn.ask,
  })
  const findWords = (accountId: Id, id: Id) => findTemplate(db, accountId, id)
  return {
    routes: broadcastRoutes({ broadcasts, findTemplate: findWords }),
    async start() {
      const fault = linkFault(linkBase())
      if (fault && !isLaboratory(config.mailHost))
        log.warn({ event: 'link_base_not_usable', base_url: linkBase().url }, fault)
      if (!config.roles.includes('all')) return
      const links = { linkTerms: await linkTerms(), linkFault: fault ?? null }
      started.push(startRunner(parts, goingOn.ask, links))
    },
  }
}

/** @returns a function that resolves when nothing is under way */
function startRunner(
  { config, simulatorDomains, clock, log, store, plans }: AppContext,
  resumeEmails: (broadcast: BroadcastRow) => void,
  links: Pick<RunnerOptions, 'linkTerms' | 'linkFault'>,
): () => Promise<void> {
  const regions = Object.keys(config.regions)
  const failed = throttledLog(
    { log, clock },
    'error',
    'broadcast_step_failed',
    'A broadcast could not be processed; retrying',
  )
  const runner = startBroadcastRunner({
    ...{ db: store.db, run: store.run, clock, resumeEmails, quotaOf: plans.quotaOf, ...links },
    simulatorDomains,
    feedbackRegions: regions.filter(region => config.regions[region]?.feedback),
    expireAfterMs: config.delivery.expireAfterHours * HOUR_MS,
    onError: error => failed({ err: error }),
  })
  store.on(BROADCAST_DUE, times => {
    for (const at of times as number[]) runner.note(at)
  })
  const look = () => runner.note(clock.now())
  store.on(MISSED, look)
  const looking = store.isShared ? every(clock, LOOK_EVERY_MS, look) : undefined
  return async () => {
    looking?.cancel()
    await runner.stop()
  }
}
