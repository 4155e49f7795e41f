/** Requests of the API that attackers make, byte for byte. */
import { request } from 'node:http'
import type { Field, Tenant } from './field.ts'

/** An email that is good but for its sender. */
export const GOOD = { to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
export const goodOf = ({ domain }: Tenant) => ({ ...GOOD, from: `ann@${domain}` })

export type Headers = Record<string, string>

/** A request as browsers and other programs make it, with headers that `fetch` does not let one choose. */
export function ask(
  { ports }: Field,
  method: string,
  path: string,
  { headers = {}, body = '' }: { headers?: Headers; body?: string | Buffer } = {},
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: ports.http,
      method,
      path,
      agent: false,
      localAddress: '127.80.0.1',
    }
    const requests = request(
      { ...options, headers: { 'content-length': Buffer.byteLength(body), ...headers } },
      reply => {
        let text = ''
        reply.setEncoding('utf8').on('data', piece => {
          text += piece
        })
        reply.on('end', () => resolve({ status: reply.statusCode!, headers: reply.headers, text }))
      },
    )
    requests.on('error', reject).end(body)
  })
}

export const json = (token?: string): Headers => ({
  'content-type': 'application/json',
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
})

/** Sends an email of the tenant with an invalid field, and returns the status. */
export async function statusOf({ call }: Field, tenant: Tenant, over: object): Promise<number> {
  return (await call('POST', '/emails', { token: tenant.apiKey, body: { ...goodOf(tenant), ...over } }))
    .status
}
