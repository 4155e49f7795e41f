/**
 * Whether the world sees a key: no key is used before, since mail that nobody can verify is worse than an old
 * key.
 */
import { publicKeyIn } from '../../protocols/dkim/keys.ts'
import type { Resolver } from '../../protocols/dns/resolver.ts'

export interface PublicKeyPlace {
  /** Host of the record, `<token>._domainkey.<domain>`. */
  host: string
  /** Where its CNAME must lead. */
  target: string
  /** As it stands in `p=`. */
  publicKey: string
}

/** A resolver and the address it is known by. */
export interface NamedResolver {
  server: string
  resolver: Resolver
}

export interface VisibilityOptions {
  resolvers: readonly NamedResolver[]
  /** The provider zone cannot be delegated to (RFC 2606): the CNAME is all that can be asked for. */
  laboratory: boolean
}

type Sight = 'seen' | 'not-seen' | 'unknown'

/** Of the resolvers that answer every one must see the key, and at least one must answer. */
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
