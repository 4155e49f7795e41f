/**
 * Explains the state of an email and of its recipients, with the holds and limits that apply to them now.
 * Called by the HTTP API and the command line.
 */
import { type Cause, readCause } from '../../resources/emails/explanation/cause.ts'
import {
  type Explanation,
  explainDelivery,
  explainEmail,
  type Obstacle,
} from '../../resources/emails/explanation/explain.ts'
import { hidesResult } from '../../resources/events/email-status.ts'
import type { QueueHoldRow } from '../../store/model/schema/steering.ts'
import {
  type AttemptRow,
  type Db,
  DELIVERY_CLASS,
  DELIVERY_STATE,
  type DeliveryRow,
  type EmailRow,
} from '../../store/model/schema.ts'
import { isAbout, listHolds } from './hold-rows.ts'
import type { PathState, PathsTo } from './paths.ts'

/** Email to explain. Its attempts are unpacked. */
interface ExplainableEmail {
  email: EmailRow
  deliveries: readonly DeliveryRow[]
  attempts: readonly AttemptRow[]
}

export interface ExplainedEmail {
  explanation: Explanation
  /** In the order of the deliveries. */
  recipients: Explanation[]
}

interface ExplainOptions {
  db: Db
  /** State of egress paths; absent where it is not known. */
  pathsTo?: PathsTo
  /** Tells whether a disk of the service has no room; absent where it is not known. */
  isDiskFull?: () => Promise<boolean>
  now: number
  /** Whether results are explained that the account does not see. */
  forOperator?: boolean
}

/** Explains an email and its recipients. Mail that is done needs no query. */
export async function explainParts(
  options: ExplainOptions,
  { email, deliveries, attempts }: ExplainableEmail,
): Promise<ExplainedEmail> {
  const { now, forOperator = false } = options
  const waiting = deliveries.filter(({ state }) => state !== DELIVERY_STATE.done)
  const obstaclesOf = await readObstacles(options, email, waiting)
  const recipients = deliveries.map(delivery => {
    const last = attempts.findLast(({ ordinal }) => ordinal === delivery.ordinal)
    const cause = causeWithHost(readCause(delivery, last), last)
    const isHidden = !forOperator && hidesResult(email, delivery)
    return explainDelivery(delivery, { now, cause, isHidden, ...obstaclesOf(delivery) })
  })
  const explained = deliveries.map(({ status }, i) => ({ status, explanation: recipients[i]! }))
  return { explanation: explainEmail(explained), recipients }
}

/** A delivered message has no cause; its host is in the record of the attempt. */
function causeWithHost(cause: Cause | undefined, last: AttemptRow | undefined): Cause | undefined {
  if (cause || last?.outcome !== 'delivered' || last.mxHost === null) return cause
  return { code: 'delivered', host: last.mxHost }
}

type ObstaclesOf = (delivery: DeliveryRow) => { hold?: Obstacle | undefined; gate?: Obstacle | undefined }

async function readObstacles(
  { db, pathsTo, isDiskFull, now }: ExplainOptions,
  email: EmailRow,
  waiting: readonly DeliveryRow[],
): Promise<ObstaclesOf> {
  if (waiting.length === 0) return () => ({})
  const domains = [...new Set(waiting.map(({ domain }) => domain))]
  const [holds, limits, isFull] = await Promise.all([
    listHolds(db),
    readLimits(db, domains, now),
    isDiskFull?.(),
  ])
  const active = holds.filter(({ releasedAt }) => releasedAt === null)
  const destinations = [...new Set(limits.map(({ destination }) => destination))]
  const paths = (await pathsTo?.(destinations)) ?? new Map<string, PathState[]>()
  return delivery => {
    const hold = active.find(candidate => isAbout(candidate, { ...delivery, email }))
    const limit = limits.find(({ domain }) => domain === delivery.domain)
    return {
      hold: hold ? holdObstacle(hold) : undefined,
      gate: isFull
        ? { code: 'storage_full', until: null }
        : limit && gateOf(limit, paths.get(limit.destination) ?? [], delivery.class),
    }
  }
}

/** Limits of the destinations to which mail of the domains went last, in one query. */
function readLimits(db: Db, domains: readonly string[], now: number) {
  return db
    .selectFrom('domainDestinations as known')
    .leftJoin('destinationStates as state', join =>
      join.onRef('state.destination', '=', 'known.destination').on('state.pausedUntil', '>', now),
    )
    .leftJoin('destinationCaps as cap', 'cap.destination', 'known.destination')
    .select(['known.domain', 'known.destination', 'state.pausedUntil', 'state.source', 'cap.perMinute'])
    .where('known.domain', 'in', domains)
    .execute()
}

type Limits = Awaited<ReturnType<typeof readLimits>>[number]

function holdObstacle({ origin, reason, senderDomain: sender = null, isPause }: QueueHoldRow): Obstacle {
  const code = HOLD_CODES[origin]
  const by = reason ?? (isPause === 1 && sender !== null ? `the domain ${sender} is banned` : null)
  return { code, until: null, ...(by !== null && { by }) }
}

const HOLD_CODES = {
  operator: 'held_by_operator',
  automatic: 'held_automatically',
  account: 'held_by_account',
} as const

function gateOf(
  { destination: host, pausedUntil, source, perMinute }: Limits,
  paths: readonly PathState[],
  deliveryClass: number,
): Obstacle | undefined {
  const pauses = paths.flatMap(({ openBreaker }) => openBreaker?.until ?? [])
  if (paths.length > 0 && pauses.length === paths.length)
    return { code: 'destination_paused', host, until: Math.min(...pauses) }
  if (paths.length === 0 && pausedUntil !== null && source === '')
    return { code: 'destination_paused', host, until: pausedUntil }
  const isSpent = paths.length > 0 && paths.every(path => path.isSpent)
  if (isSpent && deliveryClass !== DELIVERY_CLASS.transactional)
    return { code: 'warmup_limit', host, until: null }
  if (perMinute !== null) return { code: 'rate_limited', host, until: null, limit: perMinute }
  const limit = paths.reduce((sum, { window }) => sum + window, 0)
  const isFull = paths.length > 0 && paths.every(({ underWay, window }) => underWay >= window)
  return isFull ? { code: 'connection_limit', host, until: null, limit } : undefined
}
