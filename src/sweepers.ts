/** What is taken away in the background: each kind in a round of its own, and none in the way of what users ask for. */
import { sweepKeys } from './accept/key-sweeper.ts'
import { sweepSignInPlaces } from './accounts/known-places.ts'
import type { Plans } from './accounts/plans.ts'
import { sweepSessions } from './accounts/session-sweeper.ts'
import type { Commands } from './commands.ts'
import { CONTACTS_DELETED } from './contacts/audience-commands.ts'
import { sweepDeletedAudiences } from './contacts/deleted-audiences.ts'
import { sweepImports } from './contacts/import/sweep.ts'
import { DOMAIN_DELETED } from './domains/deleted.ts'
import type { Clock } from './lib/clock.ts'
import { createIdSource } from './lib/ids.ts'
import type { Log } from './lib/log.ts'
import { type Sweeper, startSweeper } from './lib/sweeper.ts'
import { type RateTerms, watchAccountRates } from './queue/account-rates.ts'
import { sweepDeletedDomains } from './queue/deleted-domains.ts'
import { sweepDestinations } from './queue/destination-sweeper.ts'
import { sweepEmails } from './retention/email-sweeper.ts'
import { sweepEvents } from './retention/event-sweeper.ts'
import { sweepFiles } from './retention/file-sweeper.ts'
import { sweepInbound } from './retention/inbound-sweeper.ts'
import { sweepMetrics } from './retention/metric-sweeper.ts'
import { sweepShares } from './store/mail/shares.ts'
import type { Store } from './store/open.ts'
import { sweepStsPolicies } from './store/queue/tls.ts'
import { sweepReports } from './store/received/reports.ts'
import type { OperatorAlertRow } from './store/schema/alerts.ts'
import { WEBHOOK_CHANGED } from './webhooks/commands.ts'
import { sweepWebhookDeliveries } from './webhooks/sweep.ts'

interface SweepersOptions {
  rates: RateTerms
  store: Store<Commands>
  plans: Plans
  clock: Clock
  log: Log
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export function startSweepers({ store, plans, rates, clock, log }: SweepersOptions): Pick<Sweeper, 'stop'> {
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
