/** Broadcasts: their routes in the API, and their sending in the background. Part of the composition root. */

import type { FindTemplate } from '../interfaces/api/broadcasts/from-template.ts'
import { broadcastRoutes } from '../interfaces/api/broadcasts/routes.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { every } from '../lib/clock.ts'
import { type IdSource, idKey } from '../lib/ids.ts'
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
import { readTemplate } from '../resources/templates/template-rows.ts'
import { MISSED } from '../store/model/command.ts'
import type { BroadcastRow } from '../store/model/schema.ts'
import type { AppContext } from './context.ts'

const HOUR_MS = 3_600_000
/**
 * Interval of looking up due broadcasts when other processes use the store, because their announcements may
 * be lost.
 */
const LOOKUP_INTERVAL_MS = 30_000

interface BroadcastsOptions {
  newId: IdSource
  accept: Accept
  preparation: Preparation
  queueAdmin: QueueAdmin
  linkTerms(): Promise<LinkTermsIds>
  /** Returns the URL of the API; it is called once the HTTP listener is bound. */
  baseUrl(): string
}

interface BroadcastParts {
  routes: Route[]
  /** Starts to send due broadcasts if this process sends mail. Called once links can be made. */
  start(): Promise<void>
}

/** @param started receives functions that close the parts, in the order of their starts */
export function startBroadcasts(
  parts: AppContext,
  { newId, accept, preparation, queueAdmin, linkTerms, baseUrl }: BroadcastsOptions,
  started: (() => unknown)[],
): BroadcastParts {
  const { config, clock, log, store } = parts
  const { db, run } = store
  // after a stop or a kill, the next start releases the remaining emails
  const resuming = singleFlight<Pick<BroadcastRow, 'accountId' | 'id'>>(
    async broadcasts => {
      for (const broadcast of broadcasts) await queueAdmin.resume(mailOfBroadcast(broadcast))
    },
    ({ id }) => idKey(id),
    error =>
      log.error(
        { event: 'broadcast_resume_failed', err: error },
        'Held emails of a broadcast could not be released; they are released at the next start',
      ),
  )
  started.push(resuming.stop)
  const linkBase = (): LinkBase =>
    config.tracking.baseUrl
      ? { url: config.tracking.baseUrl, setting: 'tracking.base_url' }
      : { url: baseUrl(), setting: 'http.base_url' }
  const broadcasts = createBroadcasts({
    db,
    run,
    clock,
    newId,
    accept,
    preparation,
    linkBase,
    simulatorDomains: parts.simulatorDomains,
    resumeEmails: resuming.ask,
  })
  const findTemplate: FindTemplate = (accountId, ref) => readTemplate(store.find, accountId, ref)
  return {
    routes: broadcastRoutes({ broadcasts, findTemplate }),
    async start() {
      const fault = linkFault(linkBase())
      if (fault && !isLaboratory(config.mailHost))
        log.warn({ event: 'link_base_not_usable', base_url: linkBase().url }, fault)
      if (!config.roles.includes('all')) return
      const links = { linkTerms: await linkTerms(), linkFault: fault ?? null }
      started.push(startRunner(parts, resuming.ask, links))
    },
  }
}

/** @returns a function that stops the runner and resolves when it has stopped */
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
    db: store.db,
    run: store.run,
    clock,
    resumeEmails,
    quotaOf: plans.quotaOf,
    ...links,
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
  const looking = store.isShared ? every(clock, LOOKUP_INTERVAL_MS, look) : undefined
  return async () => {
    looking?.cancel()
    await runner.stop()
  }
}
