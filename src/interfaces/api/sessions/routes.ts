/** Serves sign-in and sign-out of the dashboard, the sessions of a user, and the change of a password. */
import * as z from 'zod'
import { type Id, wireId } from '../../../lib/ids.ts'
import { foldAddress } from '../../../protocols/smtp/address.ts'
import { PASSWORD_LENGTH } from '../../../resources/accounts/password.ts'
import { SESSION_IDLE_MS, type Sessions } from '../../../resources/accounts/sessions.ts'
import { findAccount } from '../../../resources/accounts/user-rows.ts'
import type { Db } from '../../../store/model/schema.ts'
import { accountSchema, accountView } from '../accounts/schema.ts'
import { ApiError, orNotFound } from '../api-error.ts'
import { clearCookie, type SessionCookie, setCookie } from '../auth/cookie.ts'
import { type ApiRequest, listReply, ok, pathId, type Route, sessionOf } from '../route/route.ts'
import { bodyReader } from '../schema/read.ts'
import { deletedSchema, idSchema, listSchema } from '../schema/reply-schemas.ts'
import { sessionRowSchema, sessionView } from './schema.ts'

interface AuthRoutesOptions {
  sessions: Sessions
  db: Db
  cookie: SessionCookie
}

/** Longer user agents are cut. */
const USER_AGENT_LENGTH_MAX = 500

const password = z.string().max(PASSWORD_LENGTH.max)
const loginSchema = z.object({ email: z.string().max(254), password })
const readLogin = bodyReader(loginSchema)
const passwordChangeSchema = z.object({
  current_password: password,
  new_password: password.min(PASSWORD_LENGTH.min),
})
const readPasswordChange = bodyReader(passwordChangeSchema)

const sessionSchema = z.object({
  user: z.object({ id: idSchema('usr'), email: z.string(), operator: z.boolean() }),
  account: accountSchema,
})
/** Browsers get the token as a cookie only. */
const signedInSchema = sessionSchema.extend({ token: z.string().exactOptional() })
const signedOutSchema = z.object({ object: z.literal('session'), deleted: z.literal(true) })
const passwordChangedSchema = z.object({
  object: z.literal('user'),
  id: idSchema('usr'),
  sessions_ended: z.int().min(0),
})

export function authRoutes({ sessions, db, cookie }: AuthRoutesOptions): Route[] {
  const view = async (user: { id: Id; accountId: Id; email: string; operator: boolean }) => ({
    user: { id: wireId('usr', user.id), email: user.email, operator: user.operator },
    account: accountView(await accountOf(db, user.accountId)),
  })
  return [
    {
      method: 'POST',
      path: '/auth/login',
      access: 'public',
      whileReadOnly: true,
      summary: 'Sign in',
      body: loginSchema,
      replies: { 200: signedInSchema },
      async handle(request) {
        const { email, password } = readLogin(await request.body())
        const script = isScript(request)
        const attempt = { email: foldAddress(email.trim()), password, clientAddress: request.clientAddress }
        const userAgent = request.headers['user-agent']?.slice(0, USER_AGENT_LENGTH_MAX) ?? null
        const result = await sessions.signIn({ ...attempt, userAgent, kind: script ? 'bearer' : 'cookie' })
        if (result.kind === 'too-many') throw tooMany(result.waitMs)
        if (result.kind === 'refused') throw wrongLogin()
        const { user, token } = result
        const body = await view({ ...user, operator: user.operator === 1 })
        return {
          ...ok(script ? { ...body, token } : body),
          headers: { 'set-cookie': setCookie(cookie, token, SESSION_IDLE_MS / 1000) },
        }
      },
    },
    {
      method: 'POST',
      path: '/auth/logout',
      access: 'session',
      whileReadOnly: true,
      summary: 'Sign out',
      replies: { 200: signedOutSchema },
      async handle(request) {
        await sessions.end(sessionOf(request).sessionId)
        return { ...ok({ object: 'session', deleted: true }), headers: { 'set-cookie': clearCookie(cookie) } }
      },
    },
    {
      method: 'GET',
      path: '/auth/session',
      access: 'session',
      summary: 'Retrieve the current session',
      replies: { 200: sessionSchema },
      async handle(request) {
        const { userId: id, accountId, email, operator } = sessionOf(request)
        return ok(await view({ id, accountId, email, operator }))
      },
    },
    passwordRoute(sessions),
  ]
}

function passwordRoute(sessions: AuthRoutesOptions['sessions']): Route {
  return {
    method: 'POST',
    path: '/auth/password',
    access: 'session',
    summary: 'Change the password and end all other sessions',
    body: passwordChangeSchema,
    replies: { 200: passwordChangedSchema },
    async handle(request) {
      const { currentPassword: current, newPassword: next } = readPasswordChange(await request.body())
      const session = sessionOf(request)
      const result = await sessions.changePassword(session, { current, next })
      if (result.kind === 'too-many') throw tooMany(result.waitMs)
      if (result.kind === 'refused') throw wrongPassword()
      return ok({ object: 'user', id: wireId('usr', session.userId), sessions_ended: result.endedCount })
    },
  }
}

async function accountOf(db: Db, id: Id) {
  const account = await findAccount(db, id)
  if (!account) throw new Error('a user has no account')
  return account
}

/** Browsers always send Origin or Sec-Fetch-Site with a POST request. */
function isScript({ headers }: ApiRequest<unknown>): boolean {
  return headers.origin === undefined && headers['sec-fetch-site'] === undefined
}

function wrongLogin(): ApiError {
  return new ApiError(401, 'invalid_access', 'The email address or the password is incorrect.')
}

function wrongPassword(): ApiError {
  const message = '`current_password` is incorrect.'
  return new ApiError(401, 'invalid_access', message, { errors: [{ path: 'current_password', message }] })
}

function tooMany(waitMs: number): ApiError {
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1000)))
  return new ApiError(429, 'rate_limit_exceeded', `Too many sign-in attempts. Retry after ${seconds} s.`, {
    headers: { 'retry-after': seconds },
  })
}

/** Lists the sessions of the signed-in user and ends single sessions. */
export function sessionRoutes({ sessions }: { sessions: Pick<Sessions, 'list' | 'endOwn'> }): Route[] {
  return [
    {
      method: 'GET',
      path: '/auth/sessions',
      access: 'session',
      summary: 'List your sessions, last seen first',
      replies: { 200: listSchema(sessionRowSchema) },
      async handle(request) {
        const { userId, sessionId } = sessionOf(request)
        const rows = await sessions.list(userId)
        return listReply(
          { total: rows.length, offset: 0 },
          rows.map(row => sessionView(row, sessionId)),
        )
      },
    },
    {
      method: 'DELETE',
      path: '/auth/sessions/:id',
      access: 'session',
      summary: 'End one of your sessions',
      replies: { 200: deletedSchema('session', 'ses') },
      async handle(request) {
        const id = pathId(request, 'ses')
        orNotFound(await sessions.endOwn(sessionOf(request).userId, id), 'Session')
        return ok({ object: 'session', id: wireId('ses', id), deleted: true })
      },
    },
  ]
}
