/**
 * Serves an email of a broadcast in the browser of its recipient. The page is that of a shared email, except
 * that pictures are loaded and links work, because the reader is the one to whom the email was sent.
 */

import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { readLanguages } from '../../../pipeline/tracking/preferences.ts'
import { readViewToken, type TokenRecipient, tokenOf } from '../../../pipeline/tracking/tokens.ts'
import { foldAddress } from '../../../protocols/smtp/address.ts'
import { parseStoredMailboxes } from '../../../resources/emails/email-rows.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { brokenLink } from '../recipients/broken-link.ts'
import { type PageLanguage, pageLanguage } from '../recipients/languages.ts'
import { recipientReply } from '../recipients/shell.ts'
import type { ApiRequest, Credential, RawHttpReply, Route } from '../route/route.ts'
import { createFindPersonalLinks } from '../unsubscribe/url.ts'
import type { OwnEmailOptions } from './own-email.ts'
import { READER, type SharedEmail, sharedHtmlReply, sharePageReply } from './share-page.ts'
import { sentEmail } from './shared-mail.ts'

interface ViewRoutesOptions {
  secrets: SecretKeys
  store: { db: Db; find: Find }
  horizonOf: OwnEmailOptions['horizonOf']
}

type Visit = ApiRequest<Credential | null>

export function viewRoutes({ secrets, store, horizonOf }: ViewRoutesOptions): Route[] {
  const linksOf = createFindPersonalLinks({ find: store.find, secrets })
  const languageFor = async ({ headers }: Visit, { accountId, emailId: id }: TokenRecipient) => {
    const [email] = await store.find('emails', [{ accountId, id }], ['toList'])
    const address = email && parseStoredMailboxes(email.toList)[0]?.address
    const known = address ? await readLanguages(store.db, accountId, foldAddress(address)) : []
    return pageLanguage(known, headers['accept-language'])
  }
  const show = async (
    request: Visit,
    reply: (email: SharedEmail, language: () => Promise<PageLanguage>) => Promise<RawHttpReply>,
  ): Promise<RawHttpReply> => {
    const ref = readViewToken(secrets, tokenOf(request.params.token!))
    if (!ref) return brokenLink(request)
    const email = await sentEmail({ store, horizonOf }, ref, linksOf)
    const language = () => languageFor(request, ref)
    return email ? reply(email, language) : gone(await language())
  }
  return [
    {
      method: 'GET',
      path: '/v/:token',
      access: 'public',
      summary: 'Page with an email of a broadcast, for its recipient',
      replies: { 200: 'text/html' },
      handle: request =>
        show(request, async (email, language) =>
          sharePageReply(email, {
            framePath: `/v/${tokenOf(request.params.token!)}/html`,
            language: await language(),
            rights: READER,
          }),
        ),
    },
    {
      method: 'GET',
      path: '/v/:token/html',
      access: 'public',
      summary: 'HTML of an email of a broadcast, for the frame in its page',
      replies: { 200: 'text/html' },
      handle: request =>
        show(request, async (email, language) => {
          const html = await email.html()
          return html === null ? gone(await language()) : sharedHtmlReply(html, READER)
        }),
    },
  ]
}

function gone(language: PageLanguage): RawHttpReply {
  const { emailGone, emailGoneHint } = language.texts
  return recipientReply(410, language, { title: emailGone, content: `<p>${emailGoneHint}</p>` })
}
