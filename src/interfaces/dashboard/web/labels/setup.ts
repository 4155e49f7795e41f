/** Steps of the setup of a public installation, and the state of each by the findings of the checks. */
import type { Doctor, SetupPlan } from '../api/types.ts'
import { counted } from './numbers.ts'
import type { Tone } from './status.ts'

type Finding = Doctor['findings'][number]

export interface CheckedSetup {
  plan: SetupPlan
  /** Undefined until the checks of this plan have run. */
  report: Doctor | undefined
}

export type SetupStep = 'server' | 'firewall' | 'records' | 'provider' | 'service'

/** Checks that a step other than the service resolves. */
const PLACES: Readonly<Record<string, SetupStep>> = {
  public_address: 'server',
  ports: 'firewall',
  inbound_mail: 'firewall',
  zone_delegation: 'records',
  zone_records: 'records',
  zone_keys: 'records',
  own_dmarc: 'records',
  reverse_name: 'provider',
  outbound_port: 'provider',
  blocklist: 'provider',
}

/** Returns the findings of a step; each belongs to exactly one. */
export function findingsOf(step: SetupStep, report: Doctor | undefined): Finding[] {
  return report?.findings.filter(({ check }) => (PLACES[check] ?? 'service') === step) ?? []
}

export interface StepState {
  isDone: boolean
  label: string
  tone: Tone
}

/**
 * A step is done unless a check fails or all are unknown. That of the service is not done before it runs with
 * the settings, and that of the firewall is never known to be done: no check sees it from outside.
 */
export function stateOf(
  step: SetupStep,
  plan: SetupPlan | undefined,
  report: Doctor | undefined,
): StepState | undefined {
  if (!plan || !report) return undefined
  const findings = findingsOf(step, report)
  const countOf = (status: Finding['status']) => findings.filter(finding => finding.status === status).length
  const [failed, warned, unknown] = [countOf('failed'), countOf('warning'), countOf('unknown')]
  if (failed > 0) return { isDone: false, label: counted(failed, 'issue'), tone: 'bad' }
  if (step === 'service' && !plan.applied) return { isDone: false, label: 'Restart needed', tone: 'warn' }
  if (warned > 0) return { isDone: true, label: counted(warned, 'warning'), tone: 'warn' }
  if (unknown > 0) return { isDone: unknown < findings.length, label: `${unknown} unknown`, tone: 'none' }
  if (step === 'firewall') return { isDone: false, label: 'Cannot be checked from here', tone: 'none' }
  return { isDone: true, label: 'OK', tone: 'good' }
}

/** Tells whether the service has the settings and no check fails. */
export function isReady(plan: SetupPlan, report: Doctor): boolean {
  return plan.applied && report.status !== 'failed'
}

/** Returns the records of the parent zone as lines of a zone file. */
export function zoneLines({ dns_records }: Pick<SetupPlan, 'dns_records'>): string {
  return dns_records.map(({ name, type, value }) => `${name}  ${type}  ${value}`).join('\n')
}

/** Returns the settings as lines of an environment file. */
export function settingLines({ settings }: Pick<SetupPlan, 'settings'>): string {
  return settings.map(({ name, value }) => `${name}=${value}`).join('\n')
}
