/** What the parts of the composition root are built from. */
import type { Passwords } from './accounts/password.ts'
import type { Plans } from './accounts/plans.ts'
import type { Commands } from './commands.ts'
import type { Config } from './config/config.ts'
import type { GenerateKey } from './domains/domains.ts'
import type { Certificates } from './lib/certificates.ts'
import type { Clock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'
import type { Metrics } from './lib/metrics.ts'
import type { ReaderPool } from './lib/reader-pool.ts'
import type { SecretKeys } from './lib/secret-keys.ts'
import type { PathsTo } from './queue/paths.ts'
import type { Reading } from './reading.ts'
import type { Store } from './store/open.ts'

export interface Parts {
  config: Config
  /** Every name of the simulator, former ones included. */
  simulatorDomains: ReadonlySet<string>
  clock: Clock
  log: Log
  metrics: Metrics
  store: Store<Commands>
  plans: Plans
  passwords: Passwords
  secrets: SecretKeys
  reading: Reading
  /** Child processes that read what may be hostile or large. */
  readers: ReaderPool
  generateKey: GenerateKey
  certificates: Certificates
  /** Of none before delivery has begun. */
  pathsTo: PathsTo
}
