/** Answers links that were cut off, changed or invented. */
import { notFound } from '../api-error.ts'
import type { ApiRequest, Credential, RawHttpReply } from '../route/route.ts'
import { pageLanguage } from './languages.ts'
import { recipientReply } from './shell.ts'

/**
 * Returns a page with the status 404 for browsers. The reply is the same for every kind of invalid link.
 * @throws ApiError 404 for programs
 */
export function brokenLink({ headers }: Pick<ApiRequest<Credential | null>, 'headers'>): RawHttpReply {
  if (!/\btext\/html\b/.test(headers.accept ?? '')) throw notFound('Link')
  const language = pageLanguage([], headers['accept-language'])
  const { brokenLink, brokenLinkHint } = language.texts
  return recipientReply(404, language, { title: brokenLink, content: `<p>${brokenLinkHint}</p>` })
}
