/** Scopes of access tokens: what a token may do. Used by the API, the command line and the dashboard. */

const READ_AND_WRITE = [
  'api-keys',
  'broadcasts',
  'contacts',
  'domains',
  'emails',
  'inbound',
  'suppressions',
  'templates',
  'webhooks',
] as const
/** Resources that no endpoint changes. */
const READ_ONLY = ['account', 'activity', 'logs'] as const

export type TokenScope =
  | 'full'
  | 'emails:send'
  | `${(typeof READ_AND_WRITE)[number]}:${'read' | 'write'}`
  | `${(typeof READ_ONLY)[number]}:read`

/** Every scope, in the order of the documentation. */
export const SCOPES: readonly TokenScope[] = [
  'full',
  'emails:send',
  ...READ_AND_WRITE.flatMap(resource => [`${resource}:read`, `${resource}:write`] as const),
  ...READ_ONLY.map(resource => `${resource}:read` as const),
]

const KNOWN = new Set<string>(SCOPES)

export function isScope(text: string): text is TokenScope {
  return KNOWN.has(text)
}

/**
 * Tells whether granted scopes include a scope: `full` includes all, and `<resource>:write` includes every
 * scope of the resource.
 */
export function includesScope(granted: readonly TokenScope[], wanted: TokenScope): boolean {
  const [resource] = wanted.split(':')
  return granted.some(scope => scope === 'full' || scope === wanted || scope === `${resource}:write`)
}
