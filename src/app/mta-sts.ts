/**
 * The MTA-STS policy of the provider host (RFC 8461). It is published only while other servers would receive
 * it correctly. Part of the composition root.
 */
import { isIPv4, isIPv6 } from 'node:net'
import type { Config } from '../config/config.ts'
import { startSweeper } from '../lib/sweeper.ts'
import type { Answer } from '../protocols/dns/answer.ts'
import type { DnsRecord } from '../protocols/dns/wire.ts'
import { OutboundFault } from '../protocols/http-client/fault.ts'
import { createOutbound, type Outbound } from '../protocols/http-client/outbound.ts'
import { CERTIFICATE_CHANGED } from '../resources/certificates/certificate-rows.ts'
import type { OwnPolicy } from '../resources/domains/own-policy.ts'
import { MTA_STS_ID, readSetting } from '../store/settings.ts'
import type { AppContext } from './context.ts'
import { readAuthorities } from './delivery-settings.ts'
import { policyOf, zoneRecords } from './dns.ts'

const CHECK_INTERVAL_MS = 3_600_000
const FETCH_MS_MAX = 10_000
const POLICY_BYTES_MAX = 64 * 1024

/** @returns a function that stops the checks and resolves when none is in progress */
export function startMtaSts({ config, clock, log, store }: AppContext): () => Promise<void> {
  const records = zoneRecords(config, clock.now())
  const policy = policyOf(config, records)
  const outbound = outboundToOurselves(config, records, clock)
  const look = async () => {
    const fault = policy ? await faultOf(config, policy, outbound) : 'it is off'
    const id = policy && fault === undefined ? policy.id : ''
    if (id === (await readSetting(store.db, MTA_STS_ID))) return
    await store.run('putSetting', { key: MTA_STS_ID, value: id })
    if (fault === undefined) log.info({ event: 'mta_sts_published', id }, 'The MTA-STS policy is published')
    else log.info({ event: 'mta_sts_not_published', fault }, 'The MTA-STS policy is not published')
  }
  const rounds = startSweeper({
    async *sweep() {
      yield await look()
    },
    everyMs: CHECK_INTERVAL_MS,
    clock,
    onError: error =>
      log.error({ event: 'mta_sts_check_failed', err: error }, 'The MTA-STS policy could not be checked'),
  })
  store.on(CERTIFICATE_CHANGED, rounds.hurry)
  return async () => {
    outbound.close()
    await rounds.stop()
  }
}

/** @returns why the policy cannot be fetched as other servers would; undefined when it can */
async function faultOf(
  { mailHost, delivery }: Config,
  { text }: OwnPolicy,
  outbound: Outbound,
): Promise<string | undefined> {
  const port = delivery.policyPort === 443 ? '' : `:${delivery.policyPort}`
  const url = `https://mta-sts.${mailHost}${port}/.well-known/mta-sts.txt`
  const reply = await outbound.send({ url, limitMs: FETCH_MS_MAX, limitBytes: POLICY_BYTES_MAX })
  if (reply instanceof OutboundFault) return reply.message
  if (reply.status !== 200) return `the policy host answers ${reply.status}`
  return reply.body.toString('utf8') === text ? undefined : 'the policy host serves another policy'
}

/**
 * Creates a client that resolves the policy host to the addresses of the provider host, because the policy
 * host has no address in the zone until the policy is published.
 */
function outboundToOurselves(
  config: Config,
  records: readonly DnsRecord[],
  clock: AppContext['clock'],
): Outbound {
  const addresses = records.flatMap(record =>
    record.name === config.mailHost && (record.type === 'A' || record.type === 'AAAA')
      ? [record.address]
      : [],
  )
  const authorities = readAuthorities(config.delivery.caFile)
  const answer = async (records: string[]): Promise<Answer<string>> =>
    records.length > 0 ? { kind: 'found', records } : { kind: 'no-data' }
  return createOutbound({
    resolver: {
      addresses4: () => answer(addresses.filter(isIPv4)),
      addresses6: () => answer(addresses.filter(isIPv6)),
    },
    clock,
    allowPrivate: true,
    ...(authorities && { authorities }),
  })
}
