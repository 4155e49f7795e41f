/** Bodies of requests in the reference. The document has them as they were once recorded. */

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/
const DAY_MS = 24 * 60 * 60_000

/** Returns the body with times that lie a day ahead, since a time in the past is refused. */
export function exampleBody(body: unknown, now = Date.now()): unknown {
  if (typeof body === 'string') return TIME.test(body) ? new Date(now + DAY_MS).toISOString() : body
  if (Array.isArray(body)) return body.map(one => exampleBody(one, now))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, exampleBody(value, now)]))
}
