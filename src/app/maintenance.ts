/**
 * What is taken away in the background: each kind in a round of its own, and none in the way of what users
 * ask for.
 */

import type { Clock } from '../lib/clock.ts'
import { createIdSource } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { type Sweeper, startSweeper } from '../lib/sweeper.ts'
import { sweepKeys } from '../pipeline/accept/key-sweeper.ts'
import { sweepReports } from '../pipeline/inbound/report-rows.ts'
import { type RateTerms, watchAccountRates } from '../pipeline/queue/account-rates.ts'
import { sweepDeletedDomains } from '../pipeline/queue/deleted-domains.ts'
import { sweepDestinations } from '../pipeline/queue/destination-sweeper.ts'
import { sweepStsPolicies } from '../pipeline/queue/tls-rows.ts'
import { WEBHOOK_CHANGED } from '../pipeline/webhooks/commands.ts'
import { sweepWebhookDeliveries } from '../pipeline/webhooks/sweep.ts'
import { sweepSignInPlaces } from '../resources/accounts/known-places.ts'
import type { Plans } from '../resources/accounts/plans.ts'
import { sweepSessions } from '../resources/accounts/session-sweeper.ts'
import { CONTACTS_DELETED } from '../resources/contacts/audience-commands.ts'
import { sweepDeletedAudiences } from '../resources/contacts/deleted-audiences.ts'
import { sweepImports } from '../resources/contacts/import/sweep.ts'
import { DOMAIN_DELETED } from '../resources/domains/deleted.ts'
import { sweepShares } from '../resources/emails/share-rows.ts'
import { sweepEmails } from '../resources/retention/email-sweeper.ts'
import { sweepEvents } from '../resources/retention/event-sweeper.ts'
import { sweepFiles } from '../resources/retention/file-sweeper.ts'
import { sweepInbound } from '../resources/retention/inbound-sweeper.ts'
import { sweepMetrics } from '../resources/retention/metric-sweeper.ts'
import type { Store } from '../store/open.ts'
import type { OperatorAlertRow } from '../store/schema/alerts.ts'
import type { ServiceCommands } from '../workers/commands.ts'

interface SweepersOptions {
  rates: RateTerms
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
  clock,
  log,
}: SweepersOptions): Pick<Sweeper, 'stop'> {
  const parts = { ...store, plans, clock, servingSince: clock.monotonic() }
  const start = (what: string, everyMs: number, sweep: () => AsyncIterable<unknown>) =>
    startSweeper({
      sweep,
      everyMs,
      clock,
      onError: error => log.error({ err: error }, `${what} could not be seen to; it is tried again later`),
    })
  const ofDeletedDomains = start('mail of deleted domains', HOUR_MS, () => sweepDeletedDomains(parts))
  store.on(DOMAIN_DELETED, ofDeletedDomains.hurry)
  const ofDeletedAudiences = start('contacts of deleted audiences', HOUR_MS, () =>
    sweepDeletedAudiences(parts),
  )
  store.on(CONTACTS_DELETED, ofDeletedAudiences.hurry)
  const ofWebhooks = start('deliveries of deleted webhooks', HOUR_MS, () => sweepWebhookDeliveries(parts))
  store.on(WEBHOOK_CHANGED, ofWebhooks.hurry)
  const watched = {
    ...parts,
    newId: createIdSource(),
    terms: rates,
    onAlert: (alert: OperatorAlertRow) => log.warn({ alert }, 'mail of an account is not wanted'),
  }
  const sweepers = [
    start('rates of bounces and complaints', 10 * MINUTE_MS, () => watchAccountRates(watched)),
    ofDeletedDomains,
    ofDeletedAudiences,
    start('imports that were cut off', 10 * MINUTE_MS, () => sweepImports(parts)),
    ofWebhooks,
    start('old events', 24 * HOUR_MS, () => sweepEvents(parts)),
    start('old idempotency keys', HOUR_MS, () => sweepKeys(parts)),
    start('ended sessions', HOUR_MS, () => sweepSessions(parts)),
    start('old places of sign-in', 24 * HOUR_MS, () => sweepSignInPlaces(parts)),
    start('expired links to emails', HOUR_MS, () => sweepShares(parts)),
    start('old reports', HOUR_MS, () => sweepReports(parts)),
    start('emails beyond retention', 10 * MINUTE_MS, () => sweepEmails(parts)),
    start('received mail beyond retention', 10 * MINUTE_MS, () => sweepInbound(parts)),
    start('metrics beyond retention', 24 * HOUR_MS, () => sweepMetrics(parts)),
    start('ended MTA-STS policies', 24 * HOUR_MS, () => sweepStsPolicies(parts)),
    start('old counters of destinations', 24 * HOUR_MS, () => sweepDestinations(parts)),
    start('unused files', 24 * HOUR_MS, () => sweepFiles(parts)),
  ]
  return {
    async stop() {
      await Promise.all(sweepers.map(sweeper => sweeper.stop()))
    },
  }
}
