/** Starts HTTPS servers as endpoints of webhooks, and an installation that may connect to them. */
import { createHmac } from 'node:crypto'
import { type Mailhorn, type MailhornOptions, startMailhorn } from './mailhorn.ts'
import type { TestContext } from './suite.ts'
import { startWebHost, type WebHost, type WebHostOptions, type WebRequest } from './web-host.ts'

export interface ReceivedEvent {
  id: string
  type: string
  created_at: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  data: any
}

export const CA_FILE = new URL('certs/ca.pem', import.meta.url).pathname

export async function startMailhornWithWebhooks(options: MailhornOptions = {}): Promise<Mailhorn> {
  return startMailhorn({
    ...options,
    zone: `${options.zone ?? ''}\nhooks.example.test A 127.0.0.1\n`,
    env: { MAILHORN_FETCH_ALLOW_LOOPBACK: 'true', MAILHORN_DELIVERY_CA_FILE: CA_FILE, ...options.env },
  })
}

export interface Sink extends WebHost {
  url: string
  events(): ReceivedEvent[]
}

export async function startSink(t: TestContext, options: WebHostOptions = {}): Promise<Sink> {
  const host = await t.using(startWebHost({ answer: (_, response) => void response.end('ok'), ...options }))
  return Object.assign(host, {
    url: `https://hooks.example.test:${host.port}/hook`,
    events: () => host.requests.map(eventOf),
  })
}

export function eventOf({ body }: WebRequest): ReceivedEvent {
  return JSON.parse(`${body}`) as ReceivedEvent
}

/** Verifies the signature as the documentation describes. */
export function isSignedBy(secret: string, { headers, body }: WebRequest): boolean {
  const expected = createHmac('sha256', secret).update(`${headers['svc-timestamp']}.${body}`).digest('hex')
  return String(headers['svc-signature']).split(',').includes(expected)
}
