/** Sets and reads the session cookie of browsers. */
import type { IncomingMessage } from 'node:http'

export interface SessionCookie {
  name: string
  attributes: string
}

/** With an https base URL, the cookie is bound to the host (`__Host-` prefix) and to TLS (`Secure`). */
export function sessionCookie(baseUrl: string): SessionCookie {
  return baseUrl.startsWith('https:')
    ? { name: '__Host-mailhorn_session', attributes: 'Path=/; HttpOnly; SameSite=Lax; Secure' }
    : { name: 'mailhorn_session', attributes: 'Path=/; HttpOnly; SameSite=Lax' }
}

export function setCookie({ name, attributes }: SessionCookie, token: string, maxAgeSeconds: number): string {
  return `${name}=${token}; Max-Age=${maxAgeSeconds}; ${attributes}`
}

export function clearCookie({ name, attributes }: SessionCookie): string {
  return `${name}=; Max-Age=0; ${attributes}`
}

export function sessionTokenOf({ headers }: IncomingMessage, { name }: SessionCookie): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || undefined
  }
  return undefined
}
