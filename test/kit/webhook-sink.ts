/** Endpoints of webhooks: HTTPS servers that tests trust, and an installation that may reach them. */
import { createHmac } from 'node:crypto'
import { type Mailhorn, type MailhornOptions, startMailhorn } from './mailhorn.ts'
import type { TestContext } from './suite.ts'
import { startWebHost, type WebHost, type WebHostOptions, type WebRequest } from './web-host.ts'

export interface ToldEvent {
  id: string
  type: string
  created_at: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  data: any
}

export const CA_FILE = new URL('certs/ca.pem', import.meta.url).pathname

export async function startTellingMailhorn(options: MailhornOptions = {}): Promise<Mailhorn> {
  return startMailhorn({
    ...options,
    zone: `${options.zone ?? ''}\nhooks.example.test A 127.0.0.1\n`,
    env: { MAILHORN_FETCH_ALLOW_LOOPBACK: 'true', MAILHORN_DELIVERY_CA_FILE: CA_FILE, ...options.env },
  })
}

export interface Sink extends WebHost {
  url: string
  events(): ToldEvent[]
}

export async function startSink(t: TestContext, options: WebHostOptions = {}): Promise<Sink> {
  const host = await t.using(startWebHost({ answer: (_, response) => void response.end('ok'), ...options }))
  return Object.assign(host, {
    url: `https://hooks.example.test:${host.port}/hook`,
    events: () => host.requests.map(eventOf),
  })
}

export function eventOf({ body }: WebRequest): ToldEvent {
  return JSON.parse(`${body}`) as ToldEvent
}

/** What the documentation tells receivers to do. */
export function isSignedBy(secret: string, { headers, body }: WebRequest): boolean {
  const expected = createHmac('sha256', secret).update(`${headers['svc-timestamp']}.${body}`).digest('hex')
  return String(headers['svc-signature']).split(',').includes(expected)
}
