/** Builds the test of the submission ports. Part of the composition root. */
import { smtpTestRoutes } from '../interfaces/api/installation/smtp-test-routes.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { addressesOf } from '../interfaces/doctor/outbound-port.ts'
import { createClientContext } from '../pipeline/delivery/smtp-client/tls.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import type { AccessTokens } from '../resources/accounts/access-tokens.ts'
import type { ApiKeys } from '../resources/accounts/api-keys.ts'
import { includesScope } from '../resources/accounts/scopes.ts'
import type { AppContext } from './context.ts'
import { readAuthorities } from './delivery.ts'
import { localSmtpAddress, selfSignedCertificate, smtpAccess } from './smtp-access.ts'

interface Credentials {
  apiKeys: Pick<ApiKeys, 'find'>
  accessTokens: Pick<AccessTokens, 'isMeant' | 'find'>
}

export function smtpTestRoutesOf(
  { config, clock, security, stack }: AppContext,
  { apiKeys, accessTokens }: Credentials,
): Route[] {
  const { mailHost, smtp, dns } = config
  const resolver = createResolver({ servers: dns.resolvers, clock })
  stack.defer(resolver.close)
  return smtpTestRoutes({
    ...smtpAccess(mailHost, smtp),
    addressesOf: host => addressesOf(resolver, host),
    localAddress: localSmtpAddress(smtp),
    localName: mailHost,
    trust() {
      const own = selfSignedCertificate(security.certificates)
      const isSelfSigned = own !== undefined
      const trusted = isSelfSigned ? [own] : readAuthorities(config.delivery.caFile)
      return { isSelfSigned, secureContext: createClientContext(trusted) }
    },
    async findSender(key) {
      if (!accessTokens.isMeant(key)) return (await apiKeys.find(key))?.accountId
      const token = await accessTokens.find(key)
      return token && includesScope(token.scopes, 'emails:send') ? token.accountId : undefined
    },
    clock,
  })
}
