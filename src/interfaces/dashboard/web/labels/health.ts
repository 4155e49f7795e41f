/** Issues that need attention, most severe first, each with a link to the page where it is resolved. */
import type {
  Account,
  Alert,
  Destinations,
  Doctor,
  Domain,
  Hold,
  Installation,
  Metrics,
} from '../api/types.ts'
import { aboutWords, alertWords, silenceWords } from './alerts.ts'
import { checkWords } from './checks.ts'
import { count, counted, percent } from './numbers.ts'

export interface Concern {
  tone: 'bad' | 'warn'
  text: string
  advice?: string
  /** Page where it is resolved. */
  href: string
  act: string
}

/** Limits of a rate; undefined until they are loaded. */
type Limit = Installation['rate_limits']['bounces'] | undefined

/** Returns the text and the colour of a rate beside its limits, the same wherever the rate is shown. */
export function limitWords(rate: number, limit: Limit) {
  const tone = limit && rateTone(rate, limit)
  const most = limit?.alert ?? limit?.hold
  return { under: most == null ? '' : `keep below ${percent(most)}`, tone: tone && (`is-${tone}` as const) }
}

/** Fewer say nothing about a rate. */
const SAMPLE_EMAILS_MIN = 50
const DAY_MS = 86_400_000

interface Seen {
  totals?: Metrics['totals'] | undefined
  domains?: readonly Domain[] | undefined
  doctor?: Doctor | undefined
  alerts?: readonly Alert[] | undefined
  account?: Account | undefined
  installation?: Installation | undefined
  /** Destinations that are paused now, perhaps only the first of them. */
  paused?: Destinations | undefined
  holds?: readonly Hold[] | undefined
}

export function concernsOf({
  totals,
  domains = [],
  doctor,
  alerts = [],
  account,
  installation,
  paused,
  holds = [],
}: Seen): Concern[] {
  const found = [
    ...(account?.suspended_at
      ? [
          {
            tone: 'bad' as const,
            text: 'Your account is suspended. New email is refused.',
            advice: 'Contact the operator of this installation.',
            href: '/emails',
            act: 'View emails',
          },
        ]
      : []),
    ...(account?.paused
      ? [
          {
            tone: 'bad' as const,
            text: 'Your account is on hold. Its mail is not sent.',
            advice: account.paused.reason ?? 'Ask the operator of this installation why.',
            href: '/emails',
            act: 'View emails',
          },
        ]
      : []),
    ...domains.flatMap(domainConcern),
    ...rateConcerns(totals, installation?.rate_limits),
    ...(paused && paused.data.length > 0 ? [pauseConcern(paused)] : []),
    ...(holds.length > 0 ? [holdConcern(holds)] : []),
    ...(installation?.laboratory ? [LABORATORY] : []),
    ...doctorConcerns(doctor, installation?.laboratory ?? false),
    ...alertConcerns(alerts, doctor !== undefined),
  ]
  return found.sort((a, b) => Number(a.tone === 'warn') - Number(b.tone === 'warn'))
}

const NAMED_MAX = 2
const listed = new Intl.ListFormat('en')

/** About destinations that the circuit breaker has paused. */
function pauseConcern({ data, total }: Destinations): Concern {
  const names = data.slice(0, NAMED_MAX).map(({ destination }) => destination)
  const more = total - names.length
  const [reason] = data.flatMap(({ pause_reason }) => pause_reason ?? [])
  return {
    tone: 'warn',
    text: `Deliveries to ${listed.format([...names, ...(more > 0 ? [`${count(more)} more`] : [])])} are paused.`,
    ...(total === 1 && reason && { advice: reason }),
    href: '/destinations?paused=true',
    act: 'View destinations',
  }
}

/** About holds that operators have set. */
function holdConcern(holds: readonly Hold[]): Concern {
  const [first] = holds
  const isOne = holds.length === 1
  return {
    tone: 'warn',
    text: isOne
      ? `On hold: ${holdWords(first!)}.`
      : `${counted(holds.length, 'hold')} keep email in the queue.`,
    ...(isOne && first!.reason && { advice: first!.reason }),
    href: '/queue',
    act: 'View holds',
  }
}

/** Names the deliveries that a hold keeps, such as `mail to there.example, queued before …`. */
export function holdWords({ domain, sender_domain, account_id, account_name, ...rest }: Hold): string {
  return [
    domain && `mail to ${domain}`,
    sender_domain && `mail from ${sender_domain}`,
    account_id && `account ${account_name ?? 'that was deleted'}`,
    rest.broadcast_id && `broadcast ${rest.broadcast_name ?? 'that was deleted'}`,
    rest.email_id && 'one email',
    rest.entered_before && `queued before ${rest.entered_before}`,
  ]
    .filter(Boolean)
    .join(', ')
}

function domainConcern({ id, name, status }: Domain): Concern[] {
  if (status === 'verified' || status === 'pending') return []
  const isLost = status === 'temporary_failure'
  return [
    {
      tone: isLost ? 'warn' : 'bad',
      text: isLost ? `DNS records of ${name} are missing.` : `${name} is not verified.`,
      advice: isLost
        ? 'Restore them before the domain loses its verification.'
        : 'You cannot send from this domain.',
      href: `/domains/${id}`,
      act: 'View DNS records',
    },
  ]
}

type RateLimits = Installation['rate_limits']

function rateConcerns(totals: Metrics['totals'] | undefined, limits: RateLimits | undefined): Concern[] {
  const { delivered = 0, bounced = 0, bounce_rate = 0, complaint_rate = 0 } = totals ?? {}
  if (!limits || delivered + bounced < SAMPLE_EMAILS_MIN) return []
  return [
    ...rateConcern(bounce_rate, limits.bounces, 'bounces', 'bounced'),
    ...rateConcern(complaint_rate, limits.complaints, 'is marked as spam', 'complained'),
  ]
}

function rateConcern(rate: number, limit: RateLimits['bounces'], what: string, status: string): Concern[] {
  const tone = rateTone(rate, limit)
  if (!tone) return []
  return [
    {
      tone,
      text: `${percent(rate)} of your mail ${what}.`,
      advice: `The limit is ${percent(limit.alert ?? limit.hold!)}${limit.hold === null ? '' : `; mail of an account is held at ${percent(limit.hold)}`}.`,
      href: `/emails?status=${status}`,
      act: 'View emails',
    },
  ]
}

/** Tells how bad a rate is by the limits of the installation; undefined below them. */
function rateTone(rate: number, { alert, hold }: RateLimits['bounces']): 'bad' | 'warn' | undefined {
  if (hold !== null && rate >= hold) return 'bad'
  return alert !== null && rate >= alert ? 'warn' : undefined
}

/** Checks of the machine, which matter also in evaluation mode; the others concern the public host name. */
const MACHINE_CHECKS = new Set([
  'disk_space',
  'disk_sync',
  'certificate',
  'clock',
  'file_permissions',
  'open_files',
  'database_schema',
  'background_tasks',
])

/** Returns every failed check; with none, the first warning. */
function doctorConcerns(doctor: Doctor | undefined, isLaboratory: boolean): Concern[] {
  const findings = doctor?.findings.filter(({ check }) => !isLaboratory || MACHINE_CHECKS.has(check)) ?? []
  const failed = findings.filter(({ status }) => status === 'failed')
  const warned = findings.filter(({ status }) => status === 'warning')
  return (failed.length > 0 ? failed : warned.slice(0, 1)).map(({ check, subject, message, advice }) => {
    const others = failed.length > 0 ? 0 : warned.length - 1
    const more = others > 0 ? `${others} more ${others === 1 ? 'issue' : 'issues'} found.` : ''
    return {
      tone: failed.length > 0 ? 'bad' : 'warn',
      text: `${checkWords(check)}${subject ? ` (${subject})` : ''}: ${message}`,
      advice: [advice, more].filter(Boolean).join(' '),
      href: '/deliverability',
      act: 'View diagnostics',
    }
  })
}

/** Shown in place of findings about the host name: they do not matter until it is set. */
const LABORATORY: Concern = {
  tone: 'warn',
  text: 'Evaluation mode: no public host name is configured.',
  advice: 'You can send to the simulator. To send to the internet, set mail_host to a host name you own.',
  href: '/setup',
  act: 'Go live',
}

/**
 * Returns the newest alert of each kind within the last day. An alert about the machine counts while its
 * condition lasts, and unless the doctor says the same.
 */
function alertConcerns(alerts: readonly Alert[], isExamined: boolean): Concern[] {
  const recent = alerts.filter(
    ({ created_at, active }) =>
      Date.now() - Date.parse(created_at) < DAY_MS && (active === null || (active && !isExamined)),
  )
  const firsts = recent.filter((alert, i) => recent.findIndex(({ kind }) => kind === alert.kind) === i)
  return firsts.map(alert => {
    const { what, fix, href, act } = alertWords(alert)
    const about = [aboutWords(alert), silenceWords(alert)].filter(Boolean).join('; ')
    return { tone: 'warn', text: about ? `${what.slice(0, -1)} (${about}).` : what, advice: fix, href, act }
  })
}
