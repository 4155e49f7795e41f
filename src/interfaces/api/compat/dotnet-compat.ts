/**
 * Converts replies for the .NET SDK, which reads ids as UUIDs, statuses as a closed list and properties of
 * contacts as strings. One value that it cannot read makes it reject the whole reply.
 */
import type { IncomingHttpHeaders } from 'node:http'

const PREFIXED = /^[a-z]{2,3}_(?=[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$)/
/** Statuses of broadcasts that the SDK does not know, with the closest one that it knows. */
const BROADCAST_WORDS = new Map([
  ['sending', 'queued'],
  ['paused', 'queued'],
  ['canceled', 'failed'],
])

type Shape = Record<string, unknown>

export function isDotnetClient(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent']?.startsWith('resend-sdk/') ?? false
}

/**
 * Returns the body with bare UUIDs in `id` and every `…_id`, and with broadcasts and contacts in the types of
 * the SDK.
 */
export function forDotnetClient(body: object): object {
  return JSON.parse(
    JSON.stringify(body, (key, value: unknown) => {
      if (typeof value === 'object' && value !== null) return readable(value as Shape)
      return typeof value === 'string' && (key === 'id' || key.endsWith('_id'))
        ? value.replace(PREFIXED, '')
        : value
    }),
  ) as object
}

function readable(value: Shape): Shape {
  if (value.object === 'broadcast' && typeof value.status === 'string')
    return { ...value, status: BROADCAST_WORDS.get(value.status) ?? value.status }
  if (value.object === 'contact' && value.properties) {
    const entries = Object.entries(value.properties).map(([key, property]) => [key, String(property)])
    return { ...value, properties: Object.fromEntries(entries) }
  }
  return value
}
