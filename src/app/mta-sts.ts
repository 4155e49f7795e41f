/**
 * The MTA-STS policy of the provider host (RFC 8461). It is published only while other servers would receive
 * it correctly, and enforced only while port 25 shows them a certificate that they accept. Part of the
 * composition root.
 */
import { randomUUID } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import type { Config } from '../config/config.ts'
import { addressesOf } from '../interfaces/doctor/outbound-port.ts'
import type { Timer } from '../lib/clock.ts'
import { startSweeper } from '../lib/sweeper.ts'
import { createClientContext } from '../pipeline/delivery/smtp-client/tls.ts'
import {
  type MxFault,
  mxCertificateFault,
  mxFaultText,
} from '../pipeline/delivery/tls-policy/mx-certificate.ts'
import type { Answer } from '../protocols/dns/answer.ts'
import { createResolver, type Resolver } from '../protocols/dns/resolver.ts'
import type { DnsRecord } from '../protocols/dns/wire.ts'
import { OutboundFault } from '../protocols/http-client/fault.ts'
import { createOutbound, type Outbound } from '../protocols/http-client/outbound.ts'
import { hourOf } from '../resources/alerts/operator-alerts.ts'
import { CERTIFICATE_CHANGED } from '../resources/certificates/certificate-rows.ts'
import type { OwnPolicy } from '../resources/domains/own-policy.ts'
import { MTA_STS_FAULT, MTA_STS_ID, MTA_STS_MODE, readSetting } from '../store/reading/settings.ts'
import type { AppContext } from './context.ts'
import { readAuthorities } from './delivery.ts'
import { policyOf, zoneRecords } from './dns.ts'

type MtaStsMode = 'enforce' | 'testing'

interface ModeDecision {
  mode: MtaStsMode
  /** Whether another check should follow soon, because this one may have failed by chance. */
  isUncertain: boolean
}

const CHECK_INTERVAL_MS = 3_600_000
/** A check that did not reach port 25 is repeated after this time, before it counts. */
const RECHECK_MS = 5 * 60_000
/** Time for which the fault that a process has found keeps the checks of others from restoring `enforce`. */
const OTHERS_FAULT_MS = 2 * 3_600_000
const FETCH_MS_MAX = 10_000
const POLICY_BYTES_MAX = 64 * 1024
/** Kind of the operator alert. */
const MTA_STS_ALERT = 'mta-sts'

/** Starts the checks of the policy, which publish it, withdraw it and change its mode. */
export function startMtaSts(context: AppContext): void {
  const { config, clock, log, store, stack, security } = context
  const resolver = createResolver({ servers: config.dns.resolvers, clock })
  const records = zoneRecords(config, 0)
  const outbound = outboundToOurselves(config, records, clock)
  const note = createAlertOnChange(context)
  const decideMode = createModeDecision(context)
  let recheck: Timer = { cancel() {} }
  const check = async () => {
    const formerId = (await readSetting(store.db, MTA_STS_ID)) ?? ''
    const mxFault = await mxFaultOf(config, records, { resolver, clock })
    const { mode, isUncertain } = await decideMode(mxFault)
    recheck.cancel()
    if (isUncertain) recheck = clock.timer(RECHECK_MS, () => rounds.runSoon())
    const policy = policyOf(config, records, mode)
    const fault = policy ? await faultOf(config, policy, outbound) : 'it is off'
    const id = policy && fault === undefined ? policy.id : ''
    const isKnown = id !== '' || formerId !== ''
    const isNoted = isKnown && !isUncertain && config.smtp.inbound.mtaSts === 'enforce'
    await note(isNoted ? mxFault : undefined)
    if (id === formerId && (await readSetting(store.db, MTA_STS_ID)) !== undefined) return
    await store.run('putSetting', { key: MTA_STS_ID, value: id })
    if (fault === undefined) log.info({ event: 'mta_sts_published', id }, 'The MTA-STS policy is published')
    else log.info({ event: 'mta_sts_not_published', fault }, 'The MTA-STS policy is not published')
  }
  const rounds = startSweeper({
    task: 'check the MTA-STS policy',
    async *sweep() {
      yield await check()
    },
    everyMs: CHECK_INTERVAL_MS,
    clock,
    onError: error =>
      log.error({ event: 'mta_sts_check_failed', err: error }, 'The MTA-STS policy could not be checked'),
  })
  store.on(CERTIFICATE_CHANGED, rounds.runSoon)
  stack.defer(resolver.close)
  stack.defer(() => recheck.cancel())
  stack.defer(rounds.stop)
  stack.defer(outbound.close)
  stack.defer(security.certificates.onChange(rounds.runSoon))
}

/**
 * Returns a function that decides in which mode our policy is published, from the result of a check. Several
 * processes may share the store, and each one checks the certificate of port 25 itself. With `enforce`,
 * senders do not deliver if they cannot verify the certificate, so no process may have found a fault. A
 * single check that does not reach port 25 changes nothing. The mode is stored for all processes.
 */
export function createModeDecision({
  clock,
  store,
}: Pick<AppContext, 'clock' | 'store'>): (fault: MxFault | undefined) => Promise<ModeDecision> {
  const ownName = randomUUID()
  let hasFailed = false
  const put = async (mode: MtaStsMode, former: string | undefined): Promise<ModeDecision> => {
    if (mode !== former) await store.run('putSetting', { key: MTA_STS_MODE, value: mode })
    return { mode, isUncertain: false }
  }
  return async fault => {
    const former = await readSetting(store.db, MTA_STS_MODE)
    if (fault) {
      const isFirst = !fault.isReached && !hasFailed
      hasFailed = true
      if (isFirst && former === 'enforce') return { mode: former, isUncertain: true }
      await store.run('putSetting', { key: MTA_STS_FAULT, value: `${ownName} ${clock.now()}` })
      return put('testing', former)
    }
    hasFailed = false
    const [name, foundAt] = ((await readSetting(store.db, MTA_STS_FAULT)) ?? '').split(' ')
    const isFaultOfOthers = name !== ownName && clock.now() - Number(foundAt ?? 0) < OTHERS_FAULT_MS
    return former === 'testing' && isFaultOfOthers ? put('testing', former) : put('enforce', former)
  }
}

/** @returns a function that raises an alert when the fault of port 25 differs from that of the last check */
function createAlertOnChange({ config, clock, log, store }: AppContext) {
  const { port } = config.delivery
  let noted: string | undefined
  return async (fault: MxFault | undefined) => {
    const reply = fault && mxFaultText(fault, port)
    if (reply === noted) return
    noted = reply
    if (!fault || reply === undefined) return
    log.warn(
      { event: 'mta_sts_not_enforced', mx_host: fault.host, fault: reply },
      'The MTA-STS policy is in the mode `testing`, because senders could not verify port 25',
    )
    const raisedAt = clock.now()
    const row = { kind: MTA_STS_ALERT, provider: fault.host, sourceIp: '', mxHost: fault.host }
    await store.run('raiseAlert', {
      ...row,
      hour: hourOf(raisedAt),
      raisedAt,
      domain: config.mailHost,
      reply,
    })
  }
}

/**
 * Connects to port 25 of each MX host of the policy as a sender does.
 * @returns the first fault; undefined when a sender that enforces the policy would deliver, or there is none
 */
export async function mxFaultOf(
  config: Config,
  records: readonly DnsRecord[],
  { resolver, clock }: { resolver: Pick<Resolver, 'addresses4' | 'addresses6'> } & Pick<AppContext, 'clock'>,
): Promise<MxFault | undefined> {
  const { hosts = [] } = policyOf(config, records, config.smtp.inbound.mtaSts) ?? {}
  const options = {
    port: config.delivery.port,
    secureContext: createClientContext(readAuthorities(config.delivery.caFile)),
    localName: config.mailHost,
    clock,
  }
  const faults = await Promise.all(
    hosts.map(async host => {
      const known = addressesIn(records, host)
      const addresses = known.length > 0 ? known : await addressesOf(resolver, host)
      return mxCertificateFault({ host, addresses }, options)
    }),
  )
  return faults.find(fault => fault !== undefined)
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
  const addresses = addressesIn(records, config.mailHost)
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
    authorities,
  })
}

function addressesIn(records: readonly DnsRecord[], host: string): string[] {
  return records.flatMap(record =>
    record.name === host && (record.type === 'A' || record.type === 'AAAA') ? [record.address] : [],
  )
}
