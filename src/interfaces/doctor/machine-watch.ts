/**
 * Watches the machine while the service runs: free space and sync latency of the disk, certificate, clock.
 * What the checks of the doctor find at these becomes an alert, which lasts until they are good again, and a
 * daily email to the operators. Called by `app/machine-watch.ts`.
 */
import { type Clock, within } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { mailOperators, NO_SENDER, type OperatorMailOptions } from '../../pipeline/alerts/operator-mail.ts'
import {
  type alertCommands,
  hourOf,
  lastingAlerts,
  type MachineAlert,
} from '../../resources/alerts/operator-alerts.ts'
import { listSilences, silenceOf } from '../../resources/alerts/silences.ts'
import type { Run } from '../../store/model/command.ts'
import type { DoctorFinding, Examination } from './finding.ts'

interface WatchedCheck extends Examination {
  /** Kind of its alerts. */
  alert: MachineAlert
  everyMs: number
}

interface MachineWatchOptions extends OperatorMailOptions {
  run: Run<typeof alertCommands>
  checks: readonly WatchedCheck[]
  clock: Clock
  log: Log
}

const LIMIT_MS = 20_000

export class MachineWatch {
  readonly #options: MachineWatchOptions
  readonly #dueAt = new Map<WatchedCheck, number>()
  /** Day of the last email about each kind and subject. */
  readonly #mailedOn = new Map<string, string>()

  constructor(options: MachineWatchOptions) {
    this.#options = options
  }

  /** Runs the checks that are due. Yields after each. @throws StorageUnavailable */
  async *sweep(): AsyncGenerator<void> {
    const { checks, clock } = this.#options
    for (const check of checks) {
      if (clock.monotonic() < (this.#dueAt.get(check) ?? 0)) continue
      this.#dueAt.set(check, clock.monotonic() + check.everyMs)
      await this.#watch(check)
      yield
    }
  }

  async #watch(check: WatchedCheck): Promise<void> {
    const { db, run, clock, log } = this.#options
    const over = new AbortController()
    const findings = (await within(clock, LIMIT_MS, check.examine(over.signal))) ?? []
    over.abort(new Error('the check took too long'))
    if (findings.length === 0 || findings.some(({ status }) => status === 'unknown')) return
    const lasting = await lastingAlerts(db, check.alert)
    const bad = findings.filter(({ status }) => status === 'failed' || status === 'warning')
    for (const finding of bad) {
      if (!lasting.has(subjectOf(finding)))
        log.warn(
          { event: 'machine_alert_raised', kind: check.alert, subject: finding.subject },
          `${finding.message} ${finding.advice}`,
        )
      const alert = this.#alertOf(check, finding)
      await run('raiseAlert', alert)
      if (!silenceOf(await listSilences(db, clock.now()), alert)) await this.#mailOperators(check, finding)
    }
    const ended = await run('endAlerts', {
      kind: check.alert,
      except: bad.map(subjectOf),
      at: clock.now(),
    })
    for (const subject of ended)
      log.info(
        { event: 'machine_alert_ended', kind: check.alert, subject },
        'The condition of an alert is over',
      )
  }

  #alertOf({ alert }: WatchedCheck, finding: DoctorFinding) {
    const raisedAt = this.#options.clock.now()
    return {
      kind: alert,
      provider: subjectOf(finding),
      sourceIp: '',
      mxHost: null,
      domain: '',
      hour: hourOf(raisedAt),
      raisedAt,
      reply: finding.message,
    }
  }

  /** Sends an email a day while a condition lasts, also over restarts: its name is stored with it. */
  async #mailOperators({ alert }: WatchedCheck, finding: DoctorFinding): Promise<void> {
    const { clock, log } = this.#options
    const day = new Date(clock.now()).toISOString().slice(0, 10)
    const condition = `${alert} ${subjectOf(finding)}`
    if (this.#mailedOn.get(condition) === day) return
    const name = `${condition} ${day}`
    const mailed = await mailOperators(this.#options, { ...noticeOf(finding), name })
    if (!mailed)
      log.warn(
        { event: 'operator_mail_not_possible', kind: alert },
        `Operators cannot be told of an alert by email: ${NO_SENDER}`,
      )
    const refused = mailed?.filter(({ fault }) => fault !== undefined) ?? []
    for (const { fault } of refused)
      log.warn(
        { event: 'operator_mail_refused', kind: alert, fault },
        'The email that tells an operator of an alert was refused',
      )
    if (refused.every(({ isFinal }) => isFinal)) this.#mailedOn.set(condition, day)
  }
}

function subjectOf({ subject }: DoctorFinding): string {
  return subject ?? ''
}

function noticeOf({ subject, message, advice }: DoctorFinding) {
  return {
    subject: `Mailhorn needs attention: ${message.replace(/\.$/, '')}`,
    text:
      `${message}${subject ? ` (${subject})` : ''}\n\n${advice}\n\n` +
      'You receive this email once a day while the condition lasts.\n',
  }
}
