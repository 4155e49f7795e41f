/**
 * Derives the scopes that an access token needs for a route from the first segment of its path and its
 * method. A route can name others (`scopes`). Used by the check of credentials and the OpenAPI document.
 */
import type { TokenScope } from '../../../resources/accounts/scopes.ts'

/** `operator`: the token has the rights of operators. `session`: no access token is accepted. */
export type RouteScope = TokenScope | 'operator' | 'session'

type Resource = TokenScope extends infer S ? (S extends `${infer R}:${string}` ? R : never) : never

/** Resources whose paths begin with another word. */
const RESOURCE_OF_PATH = new Map<string, Resource | 'operator' | 'session'>([
  ['access-tokens', 'session'],
  ['accounts', 'operator'],
  ['alerts', 'operator'],
  ['audiences', 'contacts'],
  ['auth', 'session'],
  ['contact-properties', 'contacts'],
  ['destinations', 'operator'],
  ['dns', 'operator'],
  ['doctor', 'operator'],
  ['events', 'activity'],
  ['installation', 'account'],
  ['queue', 'operator'],
  ['segments', 'contacts'],
  ['setup', 'operator'],
  ['sources', 'operator'],
  ['topics', 'contacts'],
  ['usage', 'account'],
])

interface ScopedRoute {
  method: string
  path: string
  access: 'public' | 'key' | 'session'
  scopes?: readonly RouteScope[]
}

/** Returns the scopes of a route, all of which a token needs; none for a public route. */
export function scopesOfRoute({ method, path, access, scopes }: ScopedRoute): readonly RouteScope[] {
  if (access === 'public') return []
  if (scopes) return scopes
  const [, first = '', second] = path.split('/')
  // received mail is also served below the emails, where the SDKs look for it
  const resource = second === 'receiving' ? 'inbound' : (RESOURCE_OF_PATH.get(first) ?? (first as Resource))
  if (resource === 'operator' || resource === 'session') return [resource]
  return [`${resource}:${method === 'GET' ? 'read' : 'write'}` as TokenScope]
}
