/**
 * Common parts of the service, from which the composition root builds the others. `app.ts` creates one
 * context; every file of this folder takes what it needs from it, and puts what it opens on the stack.
 */

import type { Config } from '../config/config.ts'
import type { SettingInForce } from '../config/in-force.ts'
import type { ClockSeat } from '../lib/adjustable-clock.ts'
import type { Certificates } from '../lib/certificates.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { MemoryBudget } from '../lib/memory-budget.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { ReaderPool } from '../lib/reader-pool.ts'
import type { SecretKeys } from '../lib/secret-keys.ts'
import type { Accept } from '../pipeline/accept/accept.ts'
import type { Preparation } from '../pipeline/accept/prepare.ts'
import type { PathsTo } from '../pipeline/queue/paths.ts'
import type { ServiceModeWatch } from '../pipeline/queue/service-mode.ts'
import type { Passwords } from '../resources/accounts/password.ts'
import type { Plans } from '../resources/accounts/plans.ts'
import type { GenerateKey } from '../resources/domains/domains.ts'
import type { Store } from '../store/opening/open.ts'
import type { ServiceCommands } from '../workers/commands.ts'
import type { ReadingFunctions } from '../workers/query.ts'

export interface AppContext {
  config: Config
  /** All settings with their origins, for operators. */
  settings: readonly SettingInForce[]
  clock: Clock
  log: Log
  metrics: Metrics
  newId: IdSource
  /** Closes what has been opened, in reverse order, when the service stops or cannot start. */
  stack: AsyncDisposableStack
  store: Store<ServiceCommands>
  plans: Plans
  serviceMode: ServiceModeWatch
  /** All domains of the simulator, including former ones. */
  simulatorDomains: ReadonlySet<string>
  security: Security
  workers: Workers
  /** Memory of large bodies and messages, which all doors share. */
  largeInput: MemoryBudget
}

interface Security {
  secrets: SecretKeys
  passwords: Passwords
  generateKey: GenerateKey
  certificates: Certificates
}

/** Threads and processes beside the main thread, and what new ones get. */
interface Workers {
  /** Functions of the query worker. */
  reader: ReadingFunctions
  /** Child processes that parse hostile or large input. */
  readers: ReaderPool
  /** Returns the egress paths of destinations; no paths until delivery has started. */
  pathsTo: PathsTo
  /** Secret of the installation. */
  secret: Uint8Array
  /** Handle of the test clock for a worker; null with the system clock. */
  clockSeat: ClockSeat | null
}

/** Preparation and acceptance of emails, which all kinds of submission share. */
export interface Sending {
  accept: Accept
  preparation: Preparation
}
