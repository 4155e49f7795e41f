/** Tables of accounts, users, sessions, API keys and access tokens. */
import type { Id } from '../../../lib/ids.ts'
import type { Flag } from './values.ts'

export interface AccountRow {
  id: Id
  name: string
  plan: string
  createdAt: number
  /** Time since which new email of the account is refused, in ms since the epoch; null if it is not. */
  suspendedAt: number | null
  /** Time at which the account was deleted; its rows are being removed. Null or absent if it was not. */
  deletedAt?: number | null | undefined
}

export interface UserRow {
  id: Id
  accountId: Id
  /** E-mail address, folded. */
  email: string
  passwordHash: string
  operator: Flag
  createdAt: number
}

export interface SessionRow {
  id: Id
  userId: Id
  tokenHash: Uint8Array
  /** A bearer session is for scripts, a cookie session for browsers. */
  kind: 'cookie' | 'bearer'
  createdAt: number
  lastSeenAt: number
  /** Address and program that signed in; null for sessions of version 0.1.0. */
  clientAddress?: string | null | undefined
  userAgent?: string | null | undefined
}

/** A client network from which a user has signed in. */
export interface SignInPlaceRow {
  userId: Id
  /** HMAC of the network under the installation's secret. */
  networkHash: Uint8Array
  /** Time of the last sign-in from the network, in ms since the epoch. */
  lastAt: number
}

export interface ApiKeyRow {
  id: Id
  accountId: Id
  name: string
  tokenHash: Uint8Array
  /** First characters of the token, for display. */
  tokenStart: string
  domainId: Id | null
  createdAt: number
  lastUsedAt: number | null
}

/** A credential of a program that manages the account. */
export interface AccessTokenRow {
  id: Id
  accountId: Id
  /** User that created the token; null for one that was created on the command line. */
  userId: Id | null
  name: string
  tokenHash: Uint8Array
  /** First characters of the token, for display. */
  tokenStart: string
  /** JSON array of scopes. */
  scopes: string
  /** 1: the token may use the endpoints of operators as long as its creator may. */
  operator: Flag
  /** JSON array of addresses and CIDR ranges that the token may be used from; null for any address. */
  networks: string | null
  /** Null for a token that does not expire. */
  expiresAt: number | null
  createdAt: number
  lastUsedAt: number | null
}
