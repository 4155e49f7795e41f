/** What the parts of the composition root are built from. */

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
import type { Store } from '../store/open.ts'
import type { ServiceCommands } from '../workers/commands.ts'
import type { QueryWorker } from './query-worker.ts'

export interface AppContext {
  config: Config
  /** Every name of the simulator, former ones included. */
  simulatorDomains: ReadonlySet<string>
  clock: Clock
  log: Log
  metrics: Metrics
  store: Store<ServiceCommands>
  plans: Plans
  passwords: Passwords
  secrets: SecretKeys
  reading: QueryWorker
  /** Child processes that read what may be hostile or large. */
  readers: ReaderPool
  generateKey: GenerateKey
  certificates: Certificates
  /** Of none before delivery has begun. */
  pathsTo: PathsTo
}
