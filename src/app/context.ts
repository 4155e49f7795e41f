/**
 * Common parts of the service, from which the composition root builds the others. `app.ts` creates one
 * context; every file of this folder takes what it needs from it.
 */

import type { Config } from '../config/config.ts'
import type { Certificates } from '../lib/certificates.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { ReaderPool } from '../lib/reader-pool.ts'
import type { SecretKeys } from '../lib/secret-keys.ts'
import type { PathsTo } from '../pipeline/queue/paths.ts'
import type { Passwords } from '../resources/accounts/password.ts'
import type { Plans } from '../resources/accounts/plans.ts'
import type { GenerateKey } from '../resources/domains/domains.ts'
import type { Store } from '../store/opening/open.ts'
import type { ServiceCommands } from '../workers/commands.ts'
import type { QueryWorker } from './query-worker.ts'

export interface AppContext {
  config: Config
  /** All domains of the simulator, including former ones. */
  simulatorDomains: ReadonlySet<string>
  clock: Clock
  log: Log
  metrics: Metrics
  store: Store<ServiceCommands>
  plans: Plans
  passwords: Passwords
  secrets: SecretKeys
  reading: QueryWorker
  /** Child processes that parse hostile or large input. */
  readers: ReaderPool
  generateKey: GenerateKey
  certificates: Certificates
  /** Returns the egress paths of destinations; no paths until delivery has started. */
  pathsTo: PathsTo
}
