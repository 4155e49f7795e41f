/**
 * Background maintenance: deletes old and unneeded rows and files, each kind in a separate task. The tasks
 * pause between steps, so that they do not delay requests. Part of the composition root.
 */
import type { Clock } from '../lib/clock.ts'
import { createIdSource, wireId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { type Sweeper, startSweeper } from '../lib/sweeper.ts'
import { sweepKeys } from '../pipeline/accept/key-sweeper.ts'
import { ACCOUNT_DELETED, type DeletedAccount } from '../pipeline/deletion/commands.ts'
import { sweepDeletedAccounts } from '../pipeline/deletion/delete-accounts.ts'
import { sweepReports } from '../pipeline/inbound/report-rows.ts'
import { type RateTerms, watchAccountRates } from '../pipeline/queue/account-rates.ts'
import { sweepDeletedDomains } from '../pipeline/queue/deleted-domains.ts'
import { sweepDestinations } from '../pipeline/queue/destination-sweeper.ts'
import { createQueueAdmin } from '../pipeline/queue/queue-admin.ts'
import { sweepStsPolicies } from '../pipeline/queue/tls-rows.ts'
import { WEBHOOK_CHANGED } from '../pipeline/webhooks/commands.ts'
import { sweepWebhookDeliveries } from '../pipeline/webhooks/sweep.ts'
import { sweepSignInPlaces } from '../resources/accounts/known-places.ts'
import type { Plans } from '../resources/accounts/plans.ts'
import { sweepSessions } from '../resources/accounts/sessions.ts'
import { CONTACTS_DELETED } from '../resources/contacts/audience-commands.ts'
import { sweepDeletedAudiences } from '../resources/contacts/deleted-audiences.ts'
import { sweepImports } from '../resources/contacts/import/commands.ts'
import { DOMAIN_DELETED } from '../resources/domains/deleted.ts'
import { sweepShares } from '../resources/emails/share-rows.ts'
import { sweepEmails, sweepInbound } from '../resources/retention/mail-sweeper.ts'
import { sweepMetrics } from '../resources/retention/metric-sweeper.ts'
import {
  sweepEvents,
  sweepFiles,
  sweepOutcomes,
  sweepRequests,
  sweepRouteLogs,
} from '../resources/retention/sweepers.ts'
import type { OperatorAlertRow } from '../store/model/schema/alerts.ts'
import type { Store } from '../store/opening/open.ts'
import type { ServiceCommands } from '../workers/commands.ts'

interface SweepersOptions {
  rates: RateTerms
  /** Retention of the request log; plans may have a shorter one. */
  logRetentionDays: number
  store: Store<ServiceCommands>
  plans: Plans
  clock: Clock
  log: Log
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export function startMaintenance({
  store,
  plans,
  rates,
  logRetentionDays: retentionDays,
  clock,
  log,
}: SweepersOptions): Pick<Sweeper, 'stop'> {
  const deps = { ...store, plans, clock, retentionDays, servingSince: clock.monotonic() }
  const start = (what: string, everyMs: number, sweep: () => AsyncIterable<unknown>) =>
    startSweeper({
      task: what,
      sweep,
      everyMs,
      clock,
      onError: error =>
        log.error(
          { event: 'maintenance_failed', task: what, err: error },
          `The maintenance task "${what}" failed; retrying later`,
        ),
    })
  const ofDeletedDomains = start('delete mail of deleted domains', HOUR_MS, () => sweepDeletedDomains(deps))
  store.on(DOMAIN_DELETED, ofDeletedDomains.runSoon)
  const ofDeletedAudiences = start('delete contacts of deleted audiences', HOUR_MS, () =>
    sweepDeletedAudiences(deps),
  )
  store.on(CONTACTS_DELETED, ofDeletedAudiences.runSoon)
  const ofWebhooks = start('delete deliveries of deleted webhooks', HOUR_MS, () =>
    sweepWebhookDeliveries(deps),
  )
  store.on(WEBHOOK_CHANGED, ofWebhooks.runSoon)
  const watched = {
    ...deps,
    newId: createIdSource(),
    terms: rates,
    onAlert: (alert: OperatorAlertRow) =>
      log.warn(
        { event: 'account_reputation_alert', alert },
        'Too many emails of an account bounce or are reported as spam',
      ),
  }
  const sweepers = [
    start('check bounce and complaint rates', 10 * MINUTE_MS, () => watchAccountRates(watched)),
    ofDeletedDomains,
    startDeletions(start, { store, clock, log }),
    ofDeletedAudiences,
    start('finish interrupted imports', 10 * MINUTE_MS, () => sweepImports(deps)),
    ofWebhooks,
    start('delete old events', 24 * HOUR_MS, () => sweepEvents(deps)),
    start('delete old idempotency keys', HOUR_MS, () => sweepKeys(deps)),
    start('delete expired sessions', HOUR_MS, () => sweepSessions(deps)),
    start('delete old sign-in locations', 24 * HOUR_MS, () => sweepSignInPlaces(deps)),
    start('delete expired links to emails', HOUR_MS, () => sweepShares(deps)),
    start('delete old reports', HOUR_MS, () => sweepReports(deps)),
    start('delete emails beyond retention', 10 * MINUTE_MS, () => sweepEmails(deps)),
    start('delete received mail beyond retention', 10 * MINUTE_MS, () => sweepInbound(deps)),
    start('delete logged requests beyond retention', HOUR_MS, () => sweepRequests(deps)),
    start('delete outcomes of broadcasts beyond retention', HOUR_MS, () => sweepOutcomes(deps)),
    start('delete logs of routes beyond retention', 24 * HOUR_MS, () => sweepRouteLogs(deps)),
    start('delete metrics beyond retention', 24 * HOUR_MS, () => sweepMetrics(deps)),
    start('delete expired MTA-STS policies', 24 * HOUR_MS, () => sweepStsPolicies(deps)),
    start('delete old destination counters', 24 * HOUR_MS, () => sweepDestinations(deps)),
    start('delete unused files', 24 * HOUR_MS, () => sweepFiles(deps)),
  ]
  return {
    async stop() {
      await Promise.all(sweepers.map(sweeper => sweeper.stop()))
    },
  }
}

type Start = (what: string, everyMs: number, sweep: () => AsyncIterable<unknown>) => Sweeper

/** Removes what deleted accounts have left. */
function startDeletions(
  start: Start,
  { store, clock, log }: Pick<SweepersOptions, 'store' | 'clock' | 'log'>,
): Sweeper {
  const { db, run, blobs } = store
  const queueAdmin = createQueueAdmin({ db, run, clock, newId: createIdSource() })
  const onGone = ({ id, name }: DeletedAccount) =>
    log.info({ event: 'account_removed', account: wireId('acc', id), name }, 'A deleted account was removed')
  const sweeper = start('delete accounts', MINUTE_MS, () =>
    sweepDeletedAccounts({ db, run, blobs, queueAdmin, clock, onGone }),
  )
  store.on(ACCOUNT_DELETED, accounts => {
    for (const { id, name } of accounts as DeletedAccount[])
      log.warn({ event: 'account_deleted', account: wireId('acc', id), name }, 'An account was deleted')
    sweeper.runSoon()
  })
  return sweeper
}
