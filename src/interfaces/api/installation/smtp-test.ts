/**
 * Connects to a port for SMTP submission as a program would, and reports each step. In: a port and how it is
 * secured. Out: steps with their results. Called by `smtp-test-routes.ts`.
 */
import type { SecureContext } from 'node:tls'
import type { Clock } from '../../../lib/clock.ts'
import { openSession } from '../../../pipeline/delivery/smtp-client/open.ts'
import {
  DEFAULT_TIMEOUTS,
  type Login,
  type Phase,
  type SessionFailure,
  type SessionOptions,
  type SmtpSession,
} from '../../../pipeline/delivery/smtp-client/types.ts'
import { formatReply, replyOf } from '../../../protocols/smtp/reply.ts'

export interface SubmissionPort {
  port: number
  /** TLS from the first octet, or STARTTLS. */
  security: 'tls' | 'starttls'
}

export interface SmtpTestOptions {
  /** Name of the service for programs; an IP address if it has no public name. */
  host: string
  /** Returns the IP addresses of the name. */
  addressesOf(host: string): Promise<readonly string[]>
  /** IP address of this machine at which the listeners are reached. */
  localAddress: string
  /** Name for EHLO. */
  localName: string
  /** Returns what programs trust, or what trusts the own certificate if it is self-signed. */
  trust(): { secureContext: SecureContext; isSelfSigned: boolean }
  clock: Clock
}

export const STEPS = ['resolve', 'connect', 'greeting', 'tls', 'login'] as const
type Step = (typeof STEPS)[number]

export interface StepResult {
  step: Step
  status: 'ok' | 'warning' | 'failed' | 'skipped'
  message: string
  duration_ms: number | null
}

const PHASE_MS_MAX = 4_000
const TIMEOUTS = Object.fromEntries(
  Object.keys(DEFAULT_TIMEOUTS).map(phase => [phase, PHASE_MS_MAX]),
) as typeof DEFAULT_TIMEOUTS
const ADDRESSES_MAX = 4
const STEP_OF: Partial<Record<Phase, Step>> = {
  ...{ connect: 'connect', banner: 'greeting', ehlo: 'greeting' },
  ...{ starttls: 'tls', tls: 'tls', auth: 'login' },
}
/** Phases whose times a step is made of. */
const PHASES: Readonly<Record<Exclude<Step, 'resolve'>, readonly Phase[]>> = {
  ...{ connect: ['connect'], greeting: ['banner', 'ehlo'], tls: ['starttls', 'tls'], login: ['auth'] },
}

/**
 * @param login credentials that belong to the account; undefined to end before the login
 * @param refusal why the login that was given is not tried
 */
export async function testSmtp(
  options: SmtpTestOptions,
  port: SubmissionPort,
  login: Login | undefined,
  refusal?: string,
): Promise<{ address: string; steps: StepResult[] }> {
  const { resolved, addresses } = await resolve(options)
  const opened = await firstOf(options, port, addresses)
  const local = opened === undefined || isUnreached(opened.outcome) ? options.localAddress : undefined
  const unreached = opened && local !== undefined ? [connectStep(opened.outcome, opened.address)] : []
  const { address, outcome } =
    local === undefined ? opened! : { address: local, outcome: await openAt(options, port, local) }
  if (!('failure' in outcome)) await outcome.quit()
  const steps = [...resolved, ...unreached, ...stepsOf(outcome, port, address, options)]
  const last = await loginStep(outcome, login, refusal, () => openAt(options, port, address, login))
  return { address, steps: [...steps, last] }
}

async function resolve({ host, addressesOf, localAddress, clock }: SmtpTestOptions) {
  if (host === localAddress) return { resolved: [], addresses: [host] }
  const startedAt = clock.monotonic()
  const addresses = (await addressesOf(host)).slice(0, ADDRESSES_MAX)
  const message =
    addresses.length > 0
      ? `${host} has the address ${addresses.join(', ')}.`
      : `${host} has no A or AAAA record. The test continues at ${localAddress}.`
  const status = addresses.length > 0 ? 'ok' : 'failed'
  const duration_ms = Math.round(clock.monotonic() - startedAt)
  return { resolved: [{ step: 'resolve', status, message, duration_ms } as StepResult], addresses }
}

type Outcome = SmtpSession | SessionFailure
const isUnreached = (outcome: Outcome) => 'failure' in outcome && outcome.failure.phase === 'connect'

/** Tries the addresses until one accepts the connection. */
async function firstOf(options: SmtpTestOptions, port: SubmissionPort, addresses: readonly string[]) {
  let tried: { address: string; outcome: Outcome } | undefined
  for (const address of addresses) {
    tried = { address, outcome: await openAt(options, port, address) }
    if (!isUnreached(tried.outcome)) break
  }
  return tried
}

function openAt(
  { host, localName, trust, clock }: SmtpTestOptions,
  { port, security }: SubmissionPort,
  address: string,
  login?: Login,
): Promise<Outcome> {
  const { secureContext, isSelfSigned } = trust()
  const session: SessionOptions = {
    ...{ address, port, mxHost: host, localName, timeouts: TIMEOUTS, clock },
    tls: {
      mode: security === 'tls' ? 'implicit' : 'required',
      secureContext,
      ...(isSelfSigned && { checkServerIdentity: () => undefined }),
    },
    ...(login && { login }),
  }
  return openSession(session)
}

/** The public address may be out of reach from here, and the service still be well. */
function connectStep(outcome: Outcome, address: string): StepResult {
  const why = 'failure' in outcome ? outcome.failure.message : ''
  const message = `${address} cannot be reached from this server: ${why}. Some routers block connections to the own public address; otherwise forward the port.`
  return { step: 'connect', status: 'warning', message, duration_ms: null }
}

function stepsOf(
  outcome: Outcome,
  { port, security }: SubmissionPort,
  address: string,
  { trust }: SmtpTestOptions,
): StepResult[] {
  const order =
    security === 'tls' ? (['connect', 'tls', 'greeting'] as const) : (['connect', 'greeting', 'tls'] as const)
  const failedAt = 'failure' in outcome ? STEP_OF[outcome.failure.phase] : undefined
  const failedPlace = failedAt === undefined ? order.length : order.indexOf(failedAt as 'tls')
  const { timings } = 'failure' in outcome ? outcome : outcome.facts
  return order.map((step, i): StepResult => {
    if (i > failedPlace) return { step, status: 'skipped', message: 'Not reached.', duration_ms: null }
    const duration_ms = Math.round(PHASES[step].reduce((sum, phase) => sum + (timings[phase] ?? 0), 0))
    if (i === failedPlace)
      return {
        step,
        status: 'failed',
        message: `${(outcome as SessionFailure).failure.message}.`,
        duration_ms,
      }
    return { step, ...passed(step, outcome, `${address}, port ${port}`, trust().isSelfSigned), duration_ms }
  })
}

function passed(step: Step, outcome: Outcome, place: string, isSelfSigned: boolean) {
  if (step === 'connect') return { status: 'ok' as const, message: `Connected to ${place}.` }
  if ('failure' in outcome) return { status: 'ok' as const, message: 'Passed.' }
  const { banner, tls } = outcome.facts
  if (step === 'greeting') return { status: 'ok' as const, message: `The server greets with “${banner}”.` }
  const version = `${tls!.protocol}, ${tls!.cipher}`
  if (isSelfSigned)
    return {
      status: 'warning' as const,
      message: `${version}. The certificate is self-signed; this test trusts it, programs must be told to.`,
    }
  if (!tls!.authorized)
    return {
      status: 'failed' as const,
      message: `${version}. The certificate cannot be verified (${tls!.unauthorizedReason}); programs will refuse it.`,
    }
  return { status: 'ok' as const, message: `${version}. The certificate is valid for the host name.` }
}

async function loginStep(
  outcome: Outcome,
  login: Login | undefined,
  refusal: string | undefined,
  open: () => Promise<Outcome>,
): Promise<StepResult> {
  const skipped = (message: string) =>
    ({ step: 'login', status: 'skipped', message, duration_ms: null }) as const
  if ('failure' in outcome) return skipped('Not reached.')
  if (refusal !== undefined) return { ...skipped(refusal), status: 'failed' }
  if (!login) return skipped('No API key was given.')
  if (!outcome.facts.tls?.authorized) return skipped('No login over a connection that cannot be verified.')
  const opened = await open()
  const { timings } = 'failure' in opened ? opened : opened.facts
  const duration_ms = timings.auth === undefined ? null : Math.round(timings.auth)
  if ('failure' in opened)
    return { step: 'login', status: 'failed', message: `${opened.failure.message}.`, duration_ms }
  await opened.quit()
  const { auth } = opened.facts.replies
  const reply = auth ? formatReply(replyOf(auth.code, auth.lines)) : ''
  return { step: 'login', status: 'ok', message: `The server accepts the key: ${reply}.`, duration_ms }
}
