/** Setup of a public installation, for the wizard of the dashboard. Part of the composition root. */
import { existsSync } from 'node:fs'
import { type Config, changedConfig } from '../config/config.ts'
import { DEFAULT_MAIL_HOST } from '../config/schema.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { type SetupRoutesOptions, setupRoutes } from '../interfaces/api/setup/routes.ts'
import { privateOnesOf, publicOnesOf } from '../interfaces/setup/answers.ts'
import type { RunMode } from '../interfaces/setup/own-name.ts'
import type { AppContext } from './context.ts'
import { interfaceAddresses } from './dns.ts'
import { examineHost } from './doctor.ts'

export function setupRoutesOf(
  { config, clock, store }: AppContext,
  { examine, testParts }: Pick<SetupRoutesOptions, 'examine' | 'testParts'>,
): Route[] {
  return setupRoutes({
    describe: () => answersIn(config, interfaceAddresses()),
    differingOf: settings => changedConfig(config, settings).changed,
    examineHost: (settings, { addresses }) =>
      examineHost(changedConfig(config, settings).config, addresses, clock, config),
    db: store.db,
    ...{ examine, testParts },
  })
}

/** Returns the answers that lead to the configuration. Without addresses, it has those of the host. */
function answersIn({ mailHost, dns, acme, http }: Config, assigned: string[]) {
  const addresses = dns.addresses.length > 0 ? [...dns.addresses] : publicOnesOf(assigned).found
  return {
    mail_host: mailHost === DEFAULT_MAIL_HOST ? null : mailHost,
    addresses,
    private_addresses: privateOnesOf(
      dns.listen.map(({ host }) => host),
      addresses,
    ),
    contact: acme.email || null,
    https: http.tlsListen === null && http.trustedProxies.length > 0 ? ('proxy' as const) : ('own' as const),
    run: runMode(),
    interface_addresses: assigned,
  }
}

/** Tells how this process was started; npm names the script that it runs. */
function runMode(): RunMode {
  if (existsSync('/.dockerenv')) return 'docker'
  return process.env.npm_lifecycle_event === 'start' ? 'checkout' : 'package'
}
