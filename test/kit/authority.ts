/**
 * A certificate authority on loopback that speaks ACME over TLS, and fails as a test wants it to. It checks
 * what a real one checks: nonces, signatures, the order of steps, and, by `prove`, what is served for its
 * challenges.
 */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'
import type { ServerResponse } from 'node:http'
import {
  altNames,
  BIT_STRING,
  COMMON_NAME,
  CONTEXT_0,
  CONTEXT_3,
  der,
  ECDSA_WITH_SHA256,
  INTEGER,
  pem,
  SEQUENCE,
  SET,
  UTC_TIME,
  UTF8_STRING,
} from '../../src/lib/der.ts'
import { startWebHost, type WebRequest } from './web-host.ts'

export interface Challenge {
  type: string
  name: string
  token: string
  /** Content that the challenge requires: of the file, or of the TXT record. */
  expected: string
}

export interface ScriptedFault {
  status: number
  /** Without its prefix. */
  type?: string
  detail?: string
  retryAfter?: string
  /** Called before it is answered. */
  meanwhile?: () => unknown
}

export interface AuthorityOptions {
  now(): number
  /** Returns the content that validation finds; the expected one by default. */
  prove?(challenge: Challenge): Promise<string | undefined> | string | undefined
  /** Days that its certificates are good for. */
  days?: number
  /** Orders are first seen as `processing`, so many times. */
  slow?: number
}

export interface Authority {
  directoryUrl: string
  /** PEM, for those who are to trust what it issues. */
  root: string
  /** Steps asked for, oldest first: `newOrder`, `challenge`, `finalize`, … */
  steps: string[]
  /** Number of orders made so far. */
  readonly orderCount: number
  contacts: string[][]
  /** The next request for this step is answered so. */
  failNext(step: string, fault: ScriptedFault): void
  /** Forgets accounts and orders, as a test authority does when it is started anew. */
  forget(): void
  close(): Promise<void>
}

interface Order {
  status: string
  names: string[]
  certificate?: string
  seen: number
  authorizations: { name: string; status: string; token: string; error?: object }[]
}

const TYPES = ['http-01', 'dns-01', 'tls-alpn-01']

export async function startAuthority({
  now,
  prove,
  days = 90,
  slow = 0,
}: AuthorityOptions): Promise<Authority> {
  const steps: string[] = []
  const contacts: string[][] = []
  const nonces = new Set<string>()
  const faults = new Map<string, ScriptedFault[]>()
  const { privateKey: issuer, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const accounts = new Map<string, JsonWebKey>()
  const orders: Order[] = []
  let base = ''
  let isClosed = false

  const host = await startWebHost({
    answer: (request, response) => {
      respond(request, response).catch(error => {
        response.statusCode = 500
        response.end(String(error))
      })
    },
  })
  base = `https://127.0.0.1:${host.port}`

  const problem = (status: number, type: string, detail = '') => ({
    status,
    body: { type: `urn:ietf:params:acme:error:${type}`, detail },
  })
  const viewOf = (order: Order, at: number) => ({
    status: order.status,
    authorizations: order.authorizations.map((_, i) => `${base}/authz/${at}/${i}`),
    finalize: `${base}/finalize/${at}`,
    ...(order.certificate !== undefined && { certificate: `${base}/cert/${at}` }),
    ...(order.status === 'invalid' && {
      error: { type: 'urn:ietf:params:acme:error:unauthorized', detail: 'not proven' },
    }),
  })
  const settle = (order: Order) => {
    if (order.status !== 'pending') return
    if (order.authorizations.some(({ status }) => status === 'invalid')) order.status = 'invalid'
    else if (order.authorizations.every(({ status }) => status === 'valid')) order.status = 'ready'
  }

  const respond = async (request: WebRequest, response: ServerResponse) => {
    const [, step = '', first = '', second = '', type = ''] = request.path.split('/')
    if (step !== 'directory' && step !== 'newNonce') steps.push(step)
    const nonce = randomBytes(12).toString('base64url')
    nonces.add(nonce)
    response.setHeader('replay-nonce', nonce)
    const fault = faults.get(step)?.shift()
    if (fault) {
      await fault.meanwhile?.()
      if (fault.retryAfter !== undefined) response.setHeader('retry-after', fault.retryAfter)
      const body =
        fault.type === undefined ? 'out of order' : problem(fault.status, fault.type, fault.detail).body
      response.statusCode = fault.status
      return void response.end(typeof body === 'string' ? body : JSON.stringify(body))
    }
    const reply = await replyTo(request, { step, first, second, type }, response)
    response.statusCode = reply.status
    if (reply.location !== undefined) response.setHeader('location', reply.location)
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body))
  }

  interface Reply {
    status: number
    body: object | string
    location?: string
  }

  const replyTo = async (
    request: WebRequest,
    path: { step: string; first: string; second: string; type: string },
    response: ServerResponse,
  ): Promise<Reply> => {
    const { step } = path
    if (step === 'directory')
      return {
        status: 200,
        body: Object.fromEntries(
          ['newNonce', 'newAccount', 'newOrder'].map(name => [name, `${base}/${name}`]),
        ),
      }
    if (step === 'newNonce') return { status: 204, body: '' }
    const { head, payload, input, signature } = readJws(request.body)
    if (!nonces.delete(head.nonce)) return problem(400, 'badNonce', 'unknown nonce')
    if (head.url !== base + request.path) return problem(401, 'unauthorized', 'another url')
    const jwk = step === 'newAccount' ? head.jwk : accounts.get(head.kid ?? '')
    if (!jwk) return problem(400, 'accountDoesNotExist', 'who are you?')
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    if (!verify('sha256', input, { key, dsaEncoding: 'ieee-p1363' }, signature))
      return problem(400, 'malformed', 'the signature is wrong')
    if (step === 'newAccount') return openAccount(jwk, payload)
    if (step === 'account') return { status: 200, body: { status: 'valid' } }
    if (step === 'newOrder') return openOrder(payload)
    const order = orders[Number(path.first)]
    if (!order) return problem(404, 'malformed', 'no such order')
    return onOrder(order, Number(path.first), path, { payload, jwk, response })
  }

  const openAccount = (jwk: JsonWebKey, payload: Record<string, unknown>): Reply => {
    if (payload.termsOfServiceAgreed !== true) return problem(400, 'userActionRequired', 'agree first')
    contacts.push((payload.contact as string[] | undefined) ?? [])
    const known = [...accounts].find(([, one]) => one.x === jwk.x)?.[0]
    const location = known ?? `${base}/account/${accounts.size}`
    accounts.set(location, jwk)
    return { status: known ? 200 : 201, body: { status: 'valid' }, location }
  }

  const openOrder = (payload: Record<string, unknown>): Reply => {
    const names = (payload.identifiers as { value: string }[]).map(({ value }) => value)
    const authorizations = names.map(name => ({
      name,
      status: 'pending',
      token: randomBytes(16).toString('base64url'),
    }))
    const at = orders.push({ status: 'pending', names, seen: 0, authorizations }) - 1
    return { status: 201, body: viewOf(orders[at]!, at), location: `${base}/order/${at}` }
  }

  const onOrder = async (
    order: Order,
    at: number,
    { step, second, type }: { step: string; second: string; type: string },
    { payload, jwk }: { payload: Record<string, unknown>; jwk: JsonWebKey; response: ServerResponse },
  ): Promise<Reply> => {
    settle(order)
    const authorization = order.authorizations[Number(second)]
    if (step === 'order') {
      if (order.status === 'processing' && ++order.seen > slow) order.status = 'valid'
      return { status: 200, body: viewOf(order, at) }
    }
    if (step === 'finalize') {
      if (order.status !== 'ready') return problem(403, 'orderNotReady', order.status)
      const csr = readRequest(Buffer.from(payload.csr as string, 'base64url'))
      if (csr.names.join() !== order.names.join()) return problem(400, 'badCSR', csr.names.join())
      order.certificate = issue(csr, issuer, now(), days)
      order.status = slow > 0 ? 'processing' : 'valid'
      return { status: 200, body: viewOf(order, at) }
    }
    if (step === 'cert') return { status: 200, body: order.certificate ?? '' }
    if (!authorization) return problem(404, 'malformed', 'no such authorization')
    const view = () => ({
      status: authorization.status,
      identifier: { type: 'dns', value: authorization.name },
      challenges: TYPES.map(one => ({
        type: one,
        url: `${base}/challenge/${at}/${second}/${one}`,
        token: authorization.token,
        status: authorization.status,
        ...(authorization.error && { error: authorization.error }),
      })),
    })
    if (step === 'challenge' && authorization.status === 'pending') {
      const { token, name } = authorization
      const expected = expectedFor(type, token, jwk)
      const served = prove ? await prove({ type, name, token, expected }) : expected
      authorization.status = served === expected ? 'valid' : 'invalid'
      if (served !== expected)
        authorization.error = problem(403, 'unauthorized', `found ${served ?? 'nothing'}`).body
    }
    return { status: 200, body: view() }
  }

  return {
    root: rootOf(publicKey, issuer),
    directoryUrl: `${base}/directory`,
    steps,
    get orderCount() {
      return orders.length
    },
    contacts,
    failNext: (step, fault) => void faults.set(step, [...(faults.get(step) ?? []), fault]),
    forget() {
      accounts.clear()
      orders.length = 0
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await host.close()
    },
  }
}

function readJws(body: Buffer) {
  const { protected: head, payload, signature } = JSON.parse(body.toString()) as Record<string, string>
  const text = (part: string) => Buffer.from(part, 'base64url').toString()
  return {
    head: JSON.parse(text(head!)) as { nonce: string; url: string; kid?: string; jwk?: JsonWebKey },
    payload: (payload === '' ? {} : JSON.parse(text(payload!))) as Record<string, unknown>,
    input: Buffer.from(`${head}.${payload}`),
    signature: Buffer.from(signature!, 'base64url'),
  }
}

/** Computes the key authorization (RFC 8555 §8.1, RFC 7638) independently of the code under test. */
function expectedFor(type: string, token: string, { crv, kty, x, y }: JsonWebKey): string {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')
  const file = `${token}.${sha256(`{"crv":"${crv}","kty":"${kty}","x":"${x}","y":"${y}"}`)}`
  return type === 'dns-01' ? sha256(file) : file
}

interface Item {
  tag: number
  content: Buffer
  whole: Buffer
}

function items(bytes: Buffer): Item[] {
  const found: Item[] = []
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at + 1]!
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f
    const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes)
    const start = at + 2 + lengthBytes
    found.push({
      tag: bytes[at]!,
      content: bytes.subarray(start, start + length),
      whole: bytes.subarray(at, start + length),
    })
    at = start + length
  }
  return found
}

/** Reads names and key of a PKCS #10 request, and verifies its signature. */
function readRequest(csr: Buffer): { names: string[]; publicKey: Buffer } {
  const [body, , signature] = items(items(csr)[0]!.content)
  const [, , publicKey, attributes] = items(body!.content)
  const key = createPublicKey({ key: publicKey!.whole, format: 'der', type: 'spki' })
  if (!verify('sha256', body!.whole, key, signature!.content.subarray(1)))
    throw new Error('the request is not signed by its key')
  const [, set] = items(items(attributes!.content)[0]!.content)
  const extension = items(items(items(set!.content)[0]!.content)[0]!.content)
  const names = items(items(extension[1]!.content)[0]!.content).map(({ content }) => content.toString())
  return { names, publicKey: publicKey!.whole }
}

function issue(
  { names, publicKey }: { names: string[]; publicKey: Buffer },
  issuer: KeyObject,
  now: number,
  days: number,
): string {
  return signed(
    der(
      SEQUENCE,
      der(CONTEXT_0, der(INTEGER, Buffer.of(2))),
      der(INTEGER, Buffer.concat([Buffer.of(0x40), randomBytes(8)])),
      ALGORITHM,
      ISSUER,
      der(SEQUENCE, time(now - 3_600_000), time(now + days * 86_400_000)),
      der(SEQUENCE),
      publicKey,
      der(CONTEXT_3, der(SEQUENCE, altNames(names))),
    ),
    issuer,
  )
}

/** Makes a root certificate of X.509 version 1, which may issue without basic constraints. */
function rootOf(publicKey: KeyObject, issuer: KeyObject): string {
  const now = Date.now()
  return signed(
    der(
      SEQUENCE,
      der(INTEGER, Buffer.of(1)),
      ALGORITHM,
      ISSUER,
      der(SEQUENCE, time(now - 86_400_000), time(now + 86_400_000)),
      ISSUER,
      publicKey.export({ type: 'spki', format: 'der' }),
    ),
    issuer,
  )
}

const ALGORITHM = der(SEQUENCE, ECDSA_WITH_SHA256)
const ISSUER = der(
  SEQUENCE,
  der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from('An authority for tests')))),
)

function time(at: number): Buffer {
  return der(UTC_TIME, Buffer.from(`${new Date(at).toISOString().replace(/\D/g, '').slice(2, 14)}Z`))
}

function signed(body: Buffer, issuer: KeyObject): string {
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', body, issuer))
  return pem('CERTIFICATE', der(SEQUENCE, body, ALGORITHM, signature))
}
