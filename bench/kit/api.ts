/** Mailhorn's HTTP API, as the scenarios use it. */
import type { MailhornContender } from './mailhorn.ts'
import { benchMessage, SENDER_DOMAIN } from './message.ts'

export interface Call {
  /**
   * @param body an object, or CSV
   * @throws when the reply is no success
   */
  // biome-ignore lint/suspicious/noExplicitAny: replies of every shape
  (method: string, path: string, body?: object | string): Promise<any>
  headers: { authorization: string }
}

/** Signs in as the first user. */
export async function signedIn(ours: MailhornContender): Promise<Call> {
  const { url, admin } = ours.access()
  const headers = { authorization: '' }
  const call = async (method: string, path: string, body?: object | string) => {
    const isCsv = typeof body === 'string'
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, ...(body && { 'content-type': isCsv ? 'text/csv' : 'application/json' }) },
      ...(body && { body: isCsv ? body : JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { token: string }
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
  headers.authorization = `Bearer ${(await call('POST', '/auth/login', admin)).token}`
  return Object.assign(call, { headers })
}

interface Audience {
  name: string
  count: number
  domainCount: number
}

/** Makes a broadcast to an audience of its own, ready to be sent. */
export async function draftTo(call: Call, { name, count, domainCount }: Audience): Promise<{ id: string }> {
  const audience = await call('POST', '/audiences', { name })
  await call('POST', `/audiences/${audience.id}/contacts/import`, contactsOf(count, domainCount))
  const { subject, html, text } = benchMessage()
  const leave = '<a href="{{unsubscribe_url}}">Leave</a></body>'
  return call('POST', '/broadcasts', {
    ...{ audience_id: audience.id, from: `news@${SENDER_DOMAIN}`, subject: `${subject}, {{first_name}}` },
    html: html.replace('<p ', '<p>Dear {{first_name}},</p><p ').replace('</body>', leave),
    text: `Dear {{first_name}},\n${text}{{unsubscribe_url}}\n`,
  })
}

function contactsOf(count: number, domainCount: number): string {
  const domainOf = (i: number) =>
    domainCount === 1 ? 'one' : `d${String((i % domainCount) + 1).padStart(4, '0')}`
  const rows = Array.from({ length: count }, (_, i) => `u${i}@${domainOf(i)}.test,Reader ${i}`)
  return `email,first_name\n${rows.join('\n')}\n`
}
