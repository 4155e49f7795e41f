/** Reads the query parameters of a request. */
import { invalidField } from '../api-error.ts'
import type { Route } from '../route/route.ts'

/**
 * Matches parameters that name a resource. An empty one is left to the route, since it could widen a result.
 */
const REFERENCE = /_id$/

/**
 * Removes empty parameters, which count as absent.
 * @throws ApiError 422 for a parameter of the route that occurs more than once
 */
export function readParameters(text: string, { query = {} }: Pick<Route, 'query'>): URLSearchParams {
  const given = new URLSearchParams(text)
  if (given.size === 0) return given
  const repeated = Object.keys(query).find(name => given.getAll(name).length > 1)
  if (repeated !== undefined)
    throw invalidField(repeated, `The \`${repeated}\` parameter must not be given more than once.`)
  return new URLSearchParams([...given].filter(([name, value]) => value !== '' || REFERENCE.test(name)))
}
