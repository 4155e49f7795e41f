/** Domains of the simulator. Part of the composition root. */

import type { Config } from '../config/config.ts'
import { LABORATORY_SIMULATOR, simulatorOf } from '../pipeline/simulator/simulate.ts'
import type { Store } from '../store/opening/open.ts'
import { readSetting, SIMULATOR_DOMAINS } from '../store/reading/settings.ts'
import type { ServiceCommands } from '../workers/commands.ts'

/**
 * Returns the simulator's current domain, `simulator.test`, and the current and former simulator domains
 * below `mail_host`. Mail to a former domain is still simulated after the installation was renamed. A former
 * value of `simulator.domain` is not kept, because it may be a real domain.
 */
export async function knownSimulatorDomains(
  { mailHost, simulator }: Pick<Config, 'mailHost' | 'simulator'>,
  { db, run }: Pick<Store<ServiceCommands>, 'db' | 'run'>,
): Promise<ReadonlySet<string>> {
  const kept = (await readSetting(db, SIMULATOR_DOMAINS)) ?? ''
  const afterMailHost = new Set([...kept.split(' ').filter(Boolean), simulatorOf(mailHost)])
  const value = [...afterMailHost].join(' ')
  if (value !== kept) await run('putSetting', { key: SIMULATOR_DOMAINS, value })
  return new Set([simulator.domain, LABORATORY_SIMULATOR, ...afterMailHost])
}
