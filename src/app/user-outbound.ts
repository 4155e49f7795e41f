/**
 * HTTP client for hosts that users name: files by URL, DNS providers and hosts of links. Part of the
 * composition root.
 */
import { createResolver, type Resolver } from '../protocols/dns/resolver.ts'
import { createOutbound, type Outbound, type OutboundOptions } from '../protocols/http-client/outbound.ts'
import type { AppContext } from './context.ts'

interface UserOutboundOptions extends Pick<OutboundOptions, 'authorities' | 'allowInsecureLoopback'> {
  /** Bypasses the DNS cache, because users check records that they have just changed. */
  freshDns?: boolean
}

/** @param stack receives the resolver and the client */
export function startUserOutbound(
  { config, clock, stack }: Pick<AppContext, 'config' | 'clock' | 'stack'>,
  { freshDns = false, authorities, allowInsecureLoopback = false }: UserOutboundOptions = {},
): Outbound {
  const resolver = createResolver({ servers: config.dns.resolvers, clock })
  const outbound = createOutbound({
    resolver: freshDns ? withoutDnsCache(resolver) : resolver,
    clock,
    allowLoopback: config.fetch.allowLoopback,
    allowInsecureLoopback,
    authorities,
  })
  stack.defer(resolver.close)
  stack.defer(outbound.close)
  return outbound
}

function withoutDnsCache({ addresses4, addresses6 }: Resolver): OutboundOptions['resolver'] {
  return {
    addresses4: name => addresses4(name, { fresh: true }),
    addresses6: name => addresses6(name, { fresh: true }),
  }
}
