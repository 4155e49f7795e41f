/** Holds every reply of the API against what its route says it answers. */
import type * as z from 'zod'
import { errorSchema } from '../../src/interfaces/api/api-error.ts'
import type { Route } from '../../src/interfaces/api/route/route.ts'
import { allRoutes, routeAt } from './routes.ts'

interface Answer {
  status: number
  headers: Headers
  body: unknown
}

/** Media type of responses that return uploaded bytes. */
const ANY_TYPE = '*/*'
const PAGE = 'text/html'
/** The reader of schemas drops a key of this name from any record. */
const PASSED_OVER = '__proto__'

let routes: Promise<Route[]> | undefined

/** @throws when the reply has another status, type, key or value than its route describes */
export async function assertAsDescribed(method: string, target: string, answer: Answer): Promise<void> {
  const { status, headers, body } = answer
  routes ??= allRoutes()
  const route = routeAt(await routes, method, target)
  const fail = (what: string): never => {
    throw new Error(`${method} ${route?.path ?? target} answered ${status}: ${what}`)
  }
  if (method === 'HEAD') return
  const reply = status < 400 ? route?.replies[status] : errorSchema
  if (reply === undefined) return fail('its description knows no such answer')
  const type = headers.get('content-type')
  if (typeof reply === 'string') {
    // a range such as `image/*`
    if (reply !== ANY_TYPE && !type?.startsWith(reply.replace(/\*$/, '')))
      fail(`the type is ${type}, not ${reply}`)
    return
  }
  if (status >= 400 && isRefusalPage(route, type)) return
  if (type !== 'application/json; charset=utf-8') fail(`the type is ${type}, not JSON`)
  const fault = faultOf(reply, body)
  if (fault) fail(`${fault}\n${JSON.stringify(body).slice(0, 2_000)}`)
}

/** Browsers get refusals of pages as pages. */
function isRefusalPage(route: Route | undefined, type: string | null): boolean {
  return route?.replies[200] === PAGE && type?.startsWith(PAGE) === true
}

/** Returns how a body differs from its schema. A field that parsing drops is not described. */
function faultOf(schema: z.ZodType, body: unknown): string | undefined {
  const { success, data, error } = schema.safeParse(body)
  if (!success) return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
  const keys = undescribed(body, data)
  return keys.length > 0 ? `not described: ${keys.join(', ')}` : undefined
}

function undescribed(body: unknown, read: unknown, path = ''): string[] {
  if (typeof body !== 'object' || body === null || typeof read !== 'object' || read === null)
    return body === read ? [] : [path]
  return Object.entries(body)
    .filter(([key]) => key !== PASSED_OVER)
    .flatMap(([key, value]) =>
      Object.hasOwn(read, key)
        ? undescribed(value, (read as Record<string, unknown>)[key], `${path}.${key}`)
        : [`${path}.${key}`],
    )
}
