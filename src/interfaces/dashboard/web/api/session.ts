/** The session of the signed-in user. */
import { signal } from '@preact/signals'
import { ApiError, call, onSignedOut } from './client.ts'
import { dropDraftsOf } from './drafts.ts'
import { forgetAll } from './load.ts'
import type { SignedIn } from './types.ts'

/** `unknown` until the first reply; `nobody` if no user is signed in. */
export type Session = SignedIn | 'unknown' | 'nobody' | { unreachable: ApiError }

export const session = signal<Session>('unknown')
/** Set when the session ended while a user worked with it. */
export const hasExpired = signal(false)

export function isOperator(): boolean {
  return signedIn().user.operator
}

/** Use in pages only: throws if nobody is signed in. */
export function signedIn(): SignedIn {
  const now = session.value
  if (typeof now === 'string' || 'unreachable' in now) throw new Error('nobody is signed in')
  return now
}

/** Remembers in this browser that somebody has signed in, since scripts cannot read the cookie. */
const SIGNED_IN = 'mailhorn.signed-in'

export async function findSession(): Promise<void> {
  if (localStorage.getItem(SIGNED_IN) === null) {
    session.value = 'nobody'
    return
  }
  try {
    session.value = await call<SignedIn>('GET', '/auth/session')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 401) forgetSignIn()
    else session.value = { unreachable: error }
  }
}

/** @throws ApiError */
export async function signIn(email: string, password: string): Promise<void> {
  session.value = await call<SignedIn>('POST', '/auth/login', { email, password })
  localStorage.setItem(SIGNED_IN, 'yes')
  hasExpired.value = false
}

/** Ends the session and deletes unsaved drafts from this browser. */
export async function signOut(): Promise<void> {
  const owner = draftOwner()
  await call('POST', '/auth/logout')
  dropDraftsOf(owner)
  forgetAll()
  forgetSignIn()
}

function forgetSignIn(): void {
  localStorage.removeItem(SIGNED_IN)
  session.value = 'nobody'
}

/** Owner of the stored drafts. */
export function draftOwner(): string {
  const { user, account } = signedIn()
  return `${user.id}.${account.id}`
}

export function watchSession(): void {
  onSignedOut(() => {
    if (session.value === 'nobody') return
    hasExpired.value = typeof session.value === 'object' && 'user' in session.value
    forgetAll()
    forgetSignIn()
  })
}
