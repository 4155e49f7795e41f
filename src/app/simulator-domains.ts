/** Every name of the simulator. Part of the composition root. */

import type { Config } from '../config/config.ts'
import { LABORATORY_SIMULATOR, simulatorOf } from '../pipeline/simulator/simulate.ts'
import type { Store } from '../store/open.ts'
import { readSetting, SIMULATOR_DOMAINS } from '../store/settings.ts'
import type { ServiceCommands } from '../workers/commands.ts'

/**
 * The simulator's present domain, `simulator.test`, and what it is or was called after `mail_host`. Mail to a
 * former name stays inside after the installation was renamed. A former value of `simulator.domain` is not
 * kept: it may be somebody's real domain.
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
