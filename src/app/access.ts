/**
 * Access to the API: sessions, API keys and access tokens, the check of credentials, and the routes of
 * accounts. Part of the composition root.
 */
import { accessTokenRoutes } from '../interfaces/api/access-tokens/routes.ts'
import { accountRoutes } from '../interfaces/api/accounts/routes.ts'
import { apiKeyRoutes } from '../interfaces/api/api-keys/routes.ts'
import type { SessionCookie } from '../interfaces/api/auth/cookie.ts'
import {
  createFindCredential,
  createIsValid,
  type FindCredential,
} from '../interfaces/api/auth/credentials.ts'
import type { Credential, Route } from '../interfaces/api/route/route.ts'
import type { ClientAddressOf } from '../interfaces/api/server/client-address.ts'
import { authRoutes, sessionRoutes } from '../interfaces/api/sessions/routes.ts'
import { type AccessTokens, createAccessTokens } from '../resources/accounts/access-tokens.ts'
import { type Accounts, createAccounts } from '../resources/accounts/accounts.ts'
import { KEYS_DELETED } from '../resources/accounts/api-key-rows.ts'
import { type ApiKeys, createApiKeys } from '../resources/accounts/api-keys.ts'
import { createSessions } from '../resources/accounts/sessions.ts'
import { createSignInReport } from '../resources/accounts/sign-in-report.ts'
import { MISSED } from '../store/model/command.ts'
import type { AppContext } from './context.ts'

/** Credentials of users and programs, and the routes of accounts. */
export interface ApiAccess {
  accounts: Accounts
  /** Credentials of programs, which SMTP submission accepts, too. */
  apiKeys: ApiKeys
  accessTokens: AccessTokens
  find: FindCredential
  isValid(credential: Credential): Promise<boolean>
  routes: Route[]
}

/** Creates sessions, API keys and access tokens, the check of credentials, and the routes of accounts. */
export function openAccess(
  { config, clock, log, store, plans, metrics, newId, stack, security }: AppContext,
  { cookie, clientAddressOf }: { cookie: SessionCookie; clientAddressOf: ClientAddressOf },
): ApiAccess {
  const { db, find, run } = store
  const { passwords, secrets } = security
  const report = createSignInReport({ metrics, log, clock }, 'http')
  const sessions = createSessions({ db, run, clock, newId, passwords, secrets, report })
  const accounts = createAccounts({ db, find, run, clock, newId, passwords, plans })
  const { apiKeys: keyOptions, accessTokens: tokenOptions } = config
  const apiKeys = createApiKeys({ db, find, run, clock, newId, log, prefix: keyOptions.prefix })
  const accessTokens = createAccessTokens({ db, find, run, clock, newId, log, prefix: tokenOptions.prefix })
  for (const { close, forget } of [apiKeys, accessTokens]) {
    stack.defer(close)
    store.on(KEYS_DELETED, forget)
    store.on(MISSED, forget)
  }
  const { now } = clock
  return {
    accounts,
    apiKeys,
    accessTokens,
    find: createFindCredential({ sessions, apiKeys, accessTokens, cookie, clientAddressOf, now }),
    isValid: createIsValid({ sessions, accessTokens, now }),
    routes: [
      ...authRoutes({ sessions, db, cookie }),
      ...sessionRoutes({ sessions }),
      ...accountRoutes({ accounts, plans, run, clock }),
      ...apiKeyRoutes({ apiKeys, accessTokens }),
      ...accessTokenRoutes({ accessTokens, now }),
    ],
  }
}
