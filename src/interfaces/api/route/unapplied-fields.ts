/**
 * Names the fields of a request that had no effect, in `warnings` of the reply, so that no field is dropped
 * silently. In: the body of the request, and the reply, which shows the object after the change. Out: the
 * reply with warnings. Every route passes through here, see `app/http.ts`.
 */
import * as z from 'zod'
import { presentSpelling } from '../schema/read.ts'
import type { ApiReply, ApiRequest, Route } from './route.ts'
import { type Warning, warningsFor, warningsSchema, withWarnings } from './warnings.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the route with warnings in its replies. Requests that create are compared only with the fields
 * that the route lists as not applied; for requests that change, the reply tells what was not changed.
 */
export function namingUnapplied(route: Route): Route {
  const changes = route.method === 'PATCH' || route.method === 'PUT'
  if (!(route.body instanceof z.ZodObject) || !(changes || route.notApplied)) return route
  const replies = Object.entries(route.replies).map(([status, reply]) => [status, withWarningsSchema(reply)])
  const settable = Object.keys(route.body.shape)
  const handle = route.handle as (request: ApiRequest) => ReturnType<Route['handle']>
  return {
    ...route,
    replies: Object.fromEntries(replies),
    async handle(request: ApiRequest) {
      let requested: unknown
      const body = async () => {
        requested = await request.body()
        return requested
      }
      const reply = await handle({ ...request, body })
      if (!('body' in reply) || !isFields(requested)) return reply
      const shown = reply.body as Fields
      const unchanged = changes ? unchangedFields(requested, shown, settable, route) : []
      return warned(reply, [...warningsFor(requested, route.notApplied ?? {}), ...unchanged])
    },
  } as Route
}

function withWarningsSchema(reply: z.ZodType | string): z.ZodType | string {
  if (!(reply instanceof z.ZodObject) || 'warnings' in reply.shape) return reply
  return reply.extend({ warnings: warningsSchema })
}

/** Adds warnings to those that the route itself has given. */
function warned(reply: ApiReply, added: readonly Warning[]): ApiReply {
  const { warnings = [] } = reply.body as { warnings?: readonly Warning[] }
  const own = new Set(warnings.map(({ path }) => path))
  const further = added.filter(({ path }) => !own.has(path))
  return further.length === 0
    ? reply
    : { ...reply, body: withWarnings(reply.body, [...warnings, ...further]) }
}

/**
 * Names the fields that the client wanted to remove or to change, and that the reply shows unchanged.
 *
 * @param settable fields that the route reads
 */
function unchangedFields(
  requested: Fields,
  shown: Fields,
  settable: readonly string[],
  { emptyRemoves = [] }: Route,
): Warning[] {
  return Object.keys(shown).flatMap(path => {
    const [wanted, current] = [presentSpelling(requested, path), shown[path]]
    const isSettable = settable.includes(path)
    if (isSettable && isFields(wanted) && isFields(current)) return unchangedInside(path, wanted, current)
    const message = isSettable
      ? unchangedMessage(path, { wanted, current }, emptyRemoves.includes(path))
      : fixedMessage(path, { wanted, current })
    return message === undefined ? [] : [{ path, message }]
  })
}

/** Names the members of an object, such as `capabilities.sending`, that null does not change. */
function unchangedInside(path: string, wanted: Fields, current: Fields): Warning[] {
  return Object.keys(wanted)
    .filter(key => wanted[key] === null && Object.hasOwn(current, key) && !isBlank(current[key]))
    .map(key => ({ path: `${path}.${key}`, message: `Null does not change \`${path}.${key}\`.` }))
}

interface Pair {
  wanted: unknown
  current: unknown
}

/** Explains why a value is still there although the client has given an empty one. */
function unchangedMessage(path: string, { wanted, current }: Pair, isRemovable: boolean): string | undefined {
  if (wanted === undefined || !isBlank(wanted) || isBlank(current)) return undefined
  if (wanted === null)
    return `Null does not change \`${path}\`.${isRemovable ? ' An empty string removes it.' : ''}`
  if (isRemovable) return undefined
  return `An empty ${Array.isArray(wanted) ? 'list' : 'string'} does not change \`${path}\`.`
}

/** Explains why a field that the route does not read has another value than the client has given. */
function fixedMessage(path: string, { wanted, current }: Pair): string | undefined {
  const isComparable = [wanted].flat().every(isScalar) && !OWN_FIELD.test(path)
  if (!isComparable || plain(path, wanted) === plain(path, current)) return undefined
  return `\`${path}\` was not changed, because this request cannot change it.`
}

/** Matches fields that a client sends back only because it has read them. */
const OWN_FIELD = /^(?:id|object|created_at|updated_at|updated_by|last_[a-z_]+_at)$/
const UUID_CHARACTERS = 36

/** Ids are accepted without their prefix, and one value in place of a list. */
function plain(path: string, value: unknown): string {
  const values = [value].flat()
  const isId = /_ids?$/.test(path)
  return JSON.stringify(isId ? values.map(id => String(id).slice(-UUID_CHARACTERS)) : values)
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function isBlank(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === null || value === ''
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
