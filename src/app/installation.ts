/** What clients are told of the configuration. Part of the composition root. */
import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { isLaboratory } from '../resources/domains/checker.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** In wire spelling. @param baseUrl where the API is reached */
export function describeInstallation(
  { mailHost, simulator, apiKeys, regions, plans }: Config,
  baseUrl: string,
) {
  return {
    version,
    base_url: baseUrl,
    mail_host: mailHost,
    laboratory: isLaboratory(mailHost),
    simulator_domain: simulator.domain,
    api_key_prefix: apiKeys.prefix,
    regions: Object.entries(regions).map(([name, { feedback }]) => ({ name, feedback })),
    plans: Object.keys(plans),
  }
}
