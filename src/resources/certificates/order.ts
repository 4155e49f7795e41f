/**
 * Orders a certificate (RFC 8555 §7.4): order, challenges, certificate request, chain. An interrupted order
 * continues where it stopped. Called by `keeper.ts`.
 */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import * as z from 'zod'
import { type Clock, sleep } from '../../lib/clock.ts'
import { certificateRequest } from '../../lib/x509.ts'
import { AcmeFault } from './fault.ts'
import { keyAuthorization } from './jws.ts'
import { type AcmeSession, readJson, shortened } from './session.ts'

export type ChallengeType = 'http-01' | 'dns-01'

interface ChallengeAnswer {
  type: ChallengeType
  /** Host name to validate. */
  name: string
  token: string
  /** Content of the file for `http-01` (RFC 8555 §8.3), or of the TXT record for `dns-01` (§8.4). */
  answer: string
}

/** Order in progress, with the key of its certificate. */
interface BegunOrder {
  url: string
  /** Private key, PEM. */
  key: string
}

/** Account at the authority, with a session in which its key signs. */
export interface AcmeAccount {
  session: AcmeSession
  key: KeyObject
  url: string
}

interface OrderContext {
  account: AcmeAccount
  names: readonly string[]
  begun: BegunOrder | null
  /** Resolves when the order is stored. */
  save(begun: BegunOrder | null): Promise<void>
  typeFor(name: string): ChallengeType
  /** Resolves when the answer is publicly visible. */
  put(answer: ChallengeAnswer): Promise<void>
  /** Called between steps while time passes. Throws if the lease is lost. */
  keep(): Promise<void>
  clock: Clock
  signal: AbortSignal
}

const problem = z.object({ type: z.string().default(''), detail: z.string().default('') }).optional()
const orderSchema = z.object({
  status: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  authorizations: z.array(z.url()),
  finalize: z.url(),
  certificate: z.url().optional(),
  error: problem,
})
const authorizationSchema = z.object({
  status: z.enum(['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked']),
  identifier: z.object({ value: z.string() }),
  challenges: z.array(
    z.object({
      type: z.string(),
      url: z.url(),
      token: z.string().regex(/^[\w-]{1,200}$/),
      status: z.string().default('pending'),
      error: problem,
    }),
  ),
})
type Order = z.infer<typeof orderSchema>
type Authorization = z.infer<typeof authorizationSchema>

const FIRST_WAIT_MS = 1_000
const WAIT_MS_MAX = 15_000
/** Time to wait for the authority to finish a validation or a certificate. */
const PATIENCE_MS = 180_000

/**
 * @returns certificate chain and private key, PEM
 * @throws AcmeFault
 */
export async function obtainCertificate(context: OrderContext): Promise<{ chain: string; key: string }> {
  const { begun, order: first } = (await resumed(context)) ?? (await begin(context))
  let order = first
  if (order.status === 'pending') {
    for (const url of order.authorizations) await prove(context, url)
    order = await waitFor(context, begun.url, orderSchema, ({ status }) => status !== 'pending')
  }
  if (order.status === 'ready') {
    const csr = certificateRequest(createPrivateKey(begun.key), context.names).toString('base64url')
    await post(context, order.finalize, { csr })
  }
  order = await waitFor(
    context,
    begun.url,
    orderSchema,
    ({ status }) => status !== 'ready' && status !== 'processing',
  )
  if (order.status !== 'valid' || order.certificate === undefined)
    throw new AcmeFault('refused', `the order has failed: ${detailOf(order)}`)
  const { text: chain } = await post(context, order.certificate, null)
  return { chain, key: begun.key }
}

/** Returns undefined if there is no order in progress, or it cannot succeed any more. */
async function resumed(context: OrderContext): Promise<{ begun: BegunOrder; order: Order } | undefined> {
  const { begun } = context
  if (!begun) return undefined
  try {
    const order = await read(context, begun.url, orderSchema)
    return order.status === 'invalid' ? undefined : { begun, order }
  } catch (error) {
    if (error instanceof AcmeFault && !error.isPassing) return undefined // the authority has deleted the order
    throw error
  }
}

async function begin(context: OrderContext): Promise<{ begun: BegunOrder; order: Order }> {
  const { newOrder } = await context.account.session.directory()
  const identifiers = context.names.map(value => ({ type: 'dns', value }))
  const { location, text } = await post(context, newOrder, { identifiers })
  if (location === null) throw new AcmeFault('unreadable', 'the authority does not say where the order is')
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const begun = { url: location, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
  await context.save(begun)
  return { begun, order: readJson(orderSchema, text) }
}

async function prove(context: OrderContext, url: string): Promise<void> {
  const authorization = await read(context, url, authorizationSchema)
  if (authorization.status === 'valid') return
  const name = authorization.identifier.value
  const type = context.typeFor(name)
  const challenge = authorization.challenges.find(one => one.type === type)
  if (authorization.status !== 'pending' || !challenge) throw notProven(authorization, type)
  const proof = keyAuthorization(context.account.key, challenge.token)
  const answer = type === 'http-01' ? proof : createHash('sha256').update(proof).digest('base64url')
  await context.put({ type, name, token: challenge.token, answer })
  if (challenge.status === 'pending') await post(context, challenge.url, {})
  const last = await waitFor(context, url, authorizationSchema, ({ status }) => status !== 'pending')
  if (last.status !== 'valid') throw notProven(last, type)
}

function notProven({ status, identifier, challenges }: Authorization, type: ChallengeType): AcmeFault {
  const told = challenges.find(({ error }) => error !== undefined)?.error
  const why = told ? shortened(told.detail) : status === 'pending' ? `${type} is not offered` : status
  return new AcmeFault('unproven', `${identifier.value} was not proven by ${type}: ${why}`)
}

/**
 * Polls with increasing delays, or at the interval that the authority requests.
 * @throws AcmeFault
 */
async function waitFor<T>(
  context: OrderContext,
  url: string,
  schema: z.ZodType<T>,
  isDone: (value: T) => boolean,
): Promise<T> {
  const { clock, signal } = context
  const until = clock.monotonic() + PATIENCE_MS
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)) {
    const { text, retryAfterMs } = await post(context, url, null)
    const value = readJson(schema, text)
    if (isDone(value)) return value
    const pauseMs = Math.min(Math.max(retryAfterMs ?? 0, waitMs), PATIENCE_MS)
    if (clock.monotonic() + pauseMs > until)
      throw new AcmeFault('too-slow', 'the authority takes too long to decide')
    await sleep(clock, pauseMs, signal)
  }
}

async function read<T>(context: OrderContext, url: string, schema: z.ZodType<T>): Promise<T> {
  return readJson(schema, (await post(context, url, null)).text)
}

async function post(context: OrderContext, url: string, payload: object | null) {
  context.signal.throwIfAborted()
  await context.keep()
  const { session, url: accountUrl } = context.account
  return session.post(url, payload, accountUrl)
}

function detailOf({ status, error }: Order): string {
  return error ? shortened(error.detail) : status
}
