/** One client library types its ids as UUIDs: replies to it carry them without their prefixes. */
import type { IncomingHttpHeaders } from 'node:http'

const PREFIXED = /^[a-z]{2,3}_(?=[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$)/

export function wantsBareIds(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent']?.startsWith('resend-sdk/') ?? false
}

/** The same body with bare values under `id` and every `…_id`. */
export function bareIds(body: object): object {
  return JSON.parse(
    JSON.stringify(body, (key, value: unknown) =>
      typeof value === 'string' && (key === 'id' || key.endsWith('_id'))
        ? value.replace(PREFIXED, '')
        : value,
    ),
  ) as object
}
