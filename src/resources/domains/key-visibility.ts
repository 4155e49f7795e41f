/**
 * Tells whether a DKIM key is publicly visible. A key does not sign before, because unverifiable signatures
 * are worse than an old key.
 */
import { publicKeyIn } from '../../protocols/dkim/keys.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'

interface PublicKeyPlace {
  /** Host of the record, `<token>._domainkey.<domain>`. */
  host: string
  /** Expected target of the CNAME. */
  target: string
  /** Content of the `p=` tag. */
  publicKey: string
}

/** Resolver with its address for reports. */
export interface NamedResolver {
  server: string
  resolver: Resolver
}

export interface VisibilityOptions {
  resolvers: readonly NamedResolver[]
  /** Whether the provider zone cannot be delegated (RFC 2606), so that only the CNAME can be checked. */
  laboratory: boolean
}

type Sight = 'seen' | 'not-seen' | 'unknown'

/** Requires that at least one resolver answers, and that each one that answers sees the key. */
export async function isPublic(
  place: PublicKeyPlace,
  { resolvers, laboratory }: VisibilityOptions,
): Promise<boolean> {
  const sights = await Promise.all(resolvers.map(({ resolver }) => sightOf(place, resolver, laboratory)))
  return sights.includes('seen') && !sights.includes('not-seen')
}

async function sightOf(
  { host, target, publicKey }: PublicKeyPlace,
  resolver: Resolver,
  laboratory: boolean,
): Promise<Sight> {
  const texts = await resolver.txt(host, { fresh: true })
  if (texts.kind === 'found')
    return texts.records.some(text => publicKeyIn(text) === publicKey) ? 'seen' : 'not-seen'
  if (texts.kind === 'failure') return 'unknown'
  if (!laboratory) return 'not-seen'
  const alias = await resolver.cname(host, { fresh: true })
  if (alias.kind === 'failure') return 'unknown'
  return alias.kind === 'found' && alias.records.includes(target) ? 'seen' : 'not-seen'
}
