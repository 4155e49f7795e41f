/** Serves the test of the ports for SMTP submission. */
import * as z from 'zod'
import { type Id, sameId } from '../../../lib/ids.ts'
import { createSemaphore } from '../../../lib/semaphore.ts'
import { invalidField } from '../api-error.ts'
import { ok, type Route } from '../route/route.ts'
import { bodyReader } from '../schema/read.ts'
import { type SmtpTestOptions, STEPS, type SubmissionPort, testSmtp } from './smtp-test.ts'

export interface SmtpTestRoutesOptions extends SmtpTestOptions {
  /** Listeners for submission; empty if it is off. */
  ports: readonly SubmissionPort[]
  /** Returns the account of an API key, or of an access token that may send; undefined for other texts. */
  findSender(key: string): Promise<Id | undefined>
}

export const smtpTestBody = z.object({
  port: z.int().optional().meta({ description: 'One of the ports in `smtp` of `GET /installation`.' }),
  api_key: z.string().max(200).optional().meta({
    description:
      'API key for a login. It is used for this test only. Without it, the test ends before the login.',
  }),
})
const readTest = bodyReader(smtpTestBody, { emptyMeansAbsent: ['api_key'] })

export const smtpTestSchema = z
  .object({
    object: z.literal('smtp_test'),
    ok: z.boolean().meta({ description: 'Whether no step failed.' }),
    host: z.string(),
    address: z.string().nullable().meta({ description: 'IP address that the test was made at.' }),
    port: z.int().nullable().meta({ description: 'Null if SMTP submission is off.' }),
    security: z.enum(['tls', 'starttls']).nullable(),
    steps: z.array(
      z.object({
        step: z.enum(STEPS),
        status: z.enum(['ok', 'warning', 'failed', 'skipped']),
        message: z.string(),
        duration_ms: z.int().nullable(),
      }),
    ),
  })
  .meta({ id: 'SmtpTest' })

const OFF = {
  ...{ address: null, port: null, security: null },
  steps: [
    {
      ...{ step: 'connect', status: 'failed', duration_ms: null },
      message: 'SMTP submission is off on this server.',
    },
  ],
}

const RUNNING_MAX = 2
const WAITING_MAX = 10
const USER = 'mailhorn'

/** A key of another account is not tried: the listener would count it as a wrong password of this machine. */
const UNKNOWN_KEY = 'This is not an API key of your account.'

export function smtpTestRoutes({ ports, findSender, ...options }: SmtpTestRoutesOptions): Route[] {
  const tests = createSemaphore(RUNNING_MAX, WAITING_MAX)
  return [
    {
      method: 'POST',
      path: '/installation/smtp-test',
      access: 'session',
      scopes: ['account:read'],
      whileReadOnly: true,
      summary: 'Connect to a port for SMTP submission as a program would, and report each step',
      body: smtpTestBody,
      replies: { 200: smtpTestSchema },
      async handle(request) {
        const { port: wanted, apiKey: password } = readTest(await request.body())
        const [first] = ports
        if (!first) return ok({ object: 'smtp_test', ok: false, host: options.host, ...OFF })
        const port = wanted === undefined ? first : ports.find(one => one.port === wanted)
        if (!port)
          throw invalidField(
            'port',
            `\`port\` must be ${ports.map(one => one.port).join(' or ')}; got ${wanted}.`,
          )
        const owner = password === undefined ? undefined : await findSender(password)
        const isOwn = owner !== undefined && sameId(owner, request.credential.accountId)
        const login = password !== undefined && isOwn ? { user: USER, password } : undefined
        const refusal = password !== undefined && !isOwn ? UNKNOWN_KEY : undefined
        const { address, steps } = await tests.run(() => testSmtp(options, port, login, refusal))
        const isOk = steps.every(({ status }) => status !== 'failed')
        return ok({ object: 'smtp_test', ok: isOk, host: options.host, address, ...port, steps })
      },
    },
  ]
}
