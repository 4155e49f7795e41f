/**
 * Watches the machine while the service runs: free space and sync latency of the disk, certificate, clock.
 * What the checks of the doctor find at these becomes an alert, which lasts until they are good again, and a
 * daily email to the operators. Called by `app/machine-watch.ts`.
 */
import { type Clock, within } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { AlertFallback } from '../../pipeline/alerts/fallback.ts'
import {
  listOperators,
  mailOperators,
  NO_SENDER,
  type OperatorMail,
  type OperatorMailOptions,
} from '../../pipeline/alerts/operator-mail.ts'
import {
  type alertCommands,
  hourOf,
  lastingAlerts,
  type MachineAlert,
} from '../../resources/alerts/operator-alerts.ts'
import { listSilences, silenceOf } from '../../resources/alerts/silences.ts'
import { type Run, StorageUnavailable } from '../../store/model/command.ts'
import type { DoctorFinding, Examination } from './finding.ts'

interface WatchedCheck extends Examination {
  /** Kind of its alerts. */
  alert: MachineAlert
  everyMs: number
}

interface MachineWatchOptions extends OperatorMailOptions {
  run: Run<typeof alertCommands>
  checks: readonly WatchedCheck[]
  /** Sends what this service does not deliver; undefined when no smart host is configured for alerts. */
  fallback?: AlertFallback | undefined
  clock: Clock
  log: Log
}

const LIMIT_MS = 20_000

export class MachineWatch {
  readonly #options: MachineWatchOptions
  readonly #dueAt = new Map<WatchedCheck, number>()
  /** Names of the emails of this day. */
  readonly #mailed = new Set<string>()
  #day = ''

  constructor(options: MachineWatchOptions) {
    this.#options = options
  }

  /** Runs the checks that are due. Yields after each. @throws StorageUnavailable */
  async *sweep(): AsyncGenerator<void> {
    const { checks, clock, fallback } = this.#options
    await fallback?.check()
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
      await this.#raise(check, finding)
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

  /** An alert that cannot be stored, such as that of a full disk, is still sent through the smart host. */
  async #raise(check: WatchedCheck, finding: DoctorFinding): Promise<void> {
    const { db, run, clock, fallback } = this.#options
    const alert = this.#alertOf(check, finding)
    const isSilenced = async () => silenceOf(await listSilences(db, clock.now()), alert) !== undefined
    try {
      await run('raiseAlert', alert)
      if (!(await isSilenced())) await this.#mailOperators(check, finding)
    } catch (error) {
      if (fallback && error instanceof StorageUnavailable && !(await isSilenced()))
        await this.#relay(fallback, this.#mailOf(check, finding))
      throw error
    }
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
  async #mailOperators(check: WatchedCheck, finding: DoctorFinding): Promise<void> {
    const { log, fallback } = this.#options
    const { alert: kind } = check
    const mail = this.#mailOf(check, finding)
    if (this.#mailed.has(mail.name)) return
    const mailed = await mailOperators(this.#options, mail)
    if (!mailed) {
      if (fallback) return this.#relay(fallback, mail)
      this.#mailed.add(mail.name)
      log.warn(
        { event: 'operator_mail_not_possible', kind },
        `Operators cannot be told of an alert by email: ${NO_SENDER}`,
      )
      return
    }
    const refused = mailed.filter(({ fault }) => fault !== undefined)
    for (const { fault } of refused)
      log.warn(
        { event: 'operator_mail_refused', kind, fault },
        'The email that tells an operator of an alert was refused',
      )
    for (const operator of mailed) fallback?.watch(mail, operator)
    if (fallback || refused.every(({ isFinal }) => isFinal)) this.#mailed.add(mail.name)
  }

  async #relay(fallback: AlertFallback, mail: OperatorMail): Promise<void> {
    for (const { to } of await listOperators(this.#options.db)) fallback.watch(mail, { to, emailId: null })
    this.#mailed.add(mail.name)
  }

  #mailOf({ alert }: WatchedCheck, finding: DoctorFinding): OperatorMail {
    const day = new Date(this.#options.clock.now()).toISOString().slice(0, 10)
    if (day !== this.#day) this.#mailed.clear()
    this.#day = day
    return { ...noticeOf(finding), name: `${alert} ${subjectOf(finding)} ${day}` }
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
