/** Broadcasts: their routes in the API, and their sending in the background. Part of the composition root. */

import type { FindTemplate } from '../interfaces/api/broadcasts/from-template.ts'
import { broadcastRoutes } from '../interfaces/api/broadcasts/routes.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { every } from '../lib/clock.ts'
import { idKey } from '../lib/ids.ts'
import { singleFlight } from '../lib/single-flight.ts'
import { throttledLog } from '../lib/throttled-log.ts'
import { BROADCAST_DUE } from '../pipeline/broadcasts/broadcast-rows.ts'
import { Broadcasts } from '../pipeline/broadcasts/broadcasts.ts'
import { type LinkBase, linkFault } from '../pipeline/broadcasts/link-base.ts'
import { type RunnerOptions, startBroadcastRunner } from '../pipeline/broadcasts/runner.ts'
import { mailOfBroadcast } from '../pipeline/broadcasts/send.ts'
import type { QueueAdmin } from '../pipeline/queue/queue-admin.ts'
import { SERVICE_MODE } from '../pipeline/queue/service-mode.ts'
import { isLaboratory } from '../resources/domains/checker.ts'
import type { LinkTermsIds } from '../resources/emails/link-terms.ts'
import { readTemplate } from '../resources/templates/template-rows.ts'
import type { BlobReservations } from '../store/blobs/reservations.ts'
import { MISSED } from '../store/model/command.ts'
import type { BroadcastRow } from '../store/model/schema.ts'
import type { AppContext, Sending } from './context.ts'

const HOUR_MS = 3_600_000
/**
 * Interval of looking up due broadcasts when other processes use the store, because their announcements may
 * be lost.
 */
const LOOKUP_INTERVAL_MS = 30_000

interface BroadcastsOptions extends Sending {
  queueAdmin: QueueAdmin
  reservations: BlobReservations
  linkTerms: LinkTermsIds
  /** URL of the API. */
  baseUrl: string
}

interface BroadcastParts {
  routes: Route[]
  /** Starts to send due broadcasts if this process sends mail. */
  start(): void
}

export function openBroadcasts(
  context: AppContext,
  { accept, preparation, queueAdmin, reservations, linkTerms, baseUrl }: BroadcastsOptions,
): BroadcastParts {
  const { config, clock, log, store, newId, stack } = context
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
  stack.defer(resuming.stop)
  const linkBase: LinkBase = config.tracking.baseUrl
    ? { url: config.tracking.baseUrl, setting: 'tracking.base_url' }
    : { url: baseUrl, setting: 'http.base_url' }
  const broadcasts = new Broadcasts({
    db,
    run,
    clock,
    newId,
    accept,
    preparation,
    blobs: store.blobs,
    reservations,
    linkBase,
    simulatorDomains: context.simulatorDomains,
    resumeEmails: resuming.ask,
  })
  const findTemplate: FindTemplate = (accountId, ref) => readTemplate(store.find, accountId, ref)
  return {
    routes: broadcastRoutes({ broadcasts, findTemplate }),
    start() {
      const fault = linkFault(linkBase)
      if (fault && !isLaboratory(config.mailHost))
        log.warn({ event: 'link_base_not_usable', base_url: linkBase.url }, fault)
      if (!config.roles.includes('all')) return
      startRunner(context, resuming.ask, { linkTerms, linkFault: fault ?? null })
    },
  }
}

function startRunner(
  { config, simulatorDomains, clock, log, store, stack, plans }: AppContext,
  resumeEmails: (broadcast: BroadcastRow) => void,
  { linkTerms, linkFault }: Pick<RunnerOptions, 'linkTerms' | 'linkFault'>,
): void {
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
    linkTerms,
    linkFault,
    simulatorDomains,
    feedbackRegions: regions.filter(region => config.regions[region]?.feedback),
    expireAfterMs: config.delivery.expireAfterHours * HOUR_MS,
    onError: error => failed({ err: error }),
  })
  store.on(BROADCAST_DUE, times => {
    for (const at of times as number[]) runner.note(at)
  })
  const poll = () => runner.note(clock.now())
  store.on(MISSED, poll)
  store.on(SERVICE_MODE, poll)
  stack.defer(runner.stop)
  if (!store.isShared) return
  const looking = every(clock, LOOKUP_INTERVAL_MS, poll)
  stack.defer(() => looking.cancel())
}
