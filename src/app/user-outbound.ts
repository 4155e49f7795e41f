/**
 * The client for hosts that users name: files by their URL, DNS providers, hosts of links. Part of the
 * composition root.
 */
import { createResolver, type Resolver } from '../protocols/dns/resolver.ts'
import { createOutbound, type Outbound, type OutboundOptions } from '../protocols/http-client/outbound.ts'
import type { AppContext } from './context.ts'

interface UserOutboundOptions extends Pick<OutboundOptions, 'authorities' | 'allowInsecureLoopback'> {
  /** Goes by the addresses of now: it was perhaps a moment ago that somebody has set them. */
  looksAnew?: boolean
}

/** @param started gets what is to be closed, in the order of the starts */
export function startUserOutbound(
  { config, clock }: Pick<AppContext, 'config' | 'clock'>,
  started: (() => unknown)[],
  { looksAnew = false, ...more }: UserOutboundOptions = {},
): Outbound {
  const resolver = createResolver({ servers: config.dns.resolvers, clock })
  const outbound = createOutbound({
    resolver: looksAnew ? lookingAnew(resolver) : resolver,
    clock,
    allowLoopback: config.fetch.allowLoopback,
    ...more,
  })
  started.push(resolver.close, outbound.close)
  return outbound
}

function lookingAnew({ addresses4, addresses6 }: Resolver): OutboundOptions['resolver'] {
  return {
    addresses4: name => addresses4(name, { fresh: true }),
    addresses6: name => addresses6(name, { fresh: true }),
  }
}
