/**
 * Finds the mail that share links show: sent emails and received messages. The `email_id` of a link is the id
 * of either one; ids never collide.
 */
import { type Id, parseWireId, wireId } from '../../../lib/ids.ts'
import { contentOf, findInbound } from '../../../pipeline/inbound/find-inbound.ts'
import { withInlineImages } from '../../../pipeline/inbound/inline-images.ts'
import { openPart } from '../../../pipeline/inbound/part-bytes.ts'
import { inboundRowView, storedParts } from '../../../pipeline/inbound/view.ts'
import { mailboxText } from '../../../protocols/smtp/address.ts'
import { decodeContent } from '../../../resources/emails/content.ts'
import { parseStoredMailboxes } from '../../../resources/emails/email-rows.ts'
import { isVisible } from '../../../resources/emails/visible.ts'
import { NO_LINKS, type PersonalLinks, personalContent } from '../../../resources/templates/personal.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { boundDomain } from '../auth/bound-key.ts'
import { requireScopes } from '../auth/credentials.ts'
import type { ApiRequest } from '../route/route.ts'
import type { EmailWithLinks } from '../unsubscribe/url.ts'
import { findOwnEmail, type OwnEmailOptions } from './own-email.ts'
import type { SharedEmail } from './share-page.ts'

interface SharedMailOptions extends OwnEmailOptions {
  store: { db: Db; find: Find; blobs: BlobFiles }
}

/** Identifies the mail of a link. */
interface MailRef {
  accountId: Id
  emailId: Id
}

export interface SharedMail {
  /**
   * Finds the mail with the `:id` of the path.
   * @throws ApiError 404, or 403 for an access token that may not read received mail
   */
  own(request: ApiRequest): Promise<MailRef & { wireId: string }>
  /** Returns undefined if the mail does not exist or is outside the retention window. */
  shown(mail: MailRef): Promise<SharedEmail | undefined>
}

export function createSharedMail(options: SharedMailOptions): SharedMail {
  const { store, horizonOf } = options
  const { find } = store
  const received = async (accountId: Id, id: Id, domain: string | null) =>
    findInbound(find, { accountId, horizon: await horizonOf(accountId), domain }, id)
  return {
    async own(request) {
      const { credential } = request
      const { accountId } = credential
      const id = parseWireId('inb', request.params.id!)
      if (!id || !(await received(accountId, id, boundDomain(credential)))) {
        const { id: emailId } = await findOwnEmail(options, request, [])
        return { accountId, emailId, wireId: wireId('eml', emailId) }
      }
      if (credential.kind === 'token') requireScopes(credential, ['inbound:read'])
      return { accountId, emailId: id, wireId: wireId('inb', id) }
    },
    async shown({ accountId, emailId }) {
      const row = await received(accountId, emailId, null)
      // the viewer must not be able to unsubscribe the recipient
      if (!row) return sentEmail(options, { accountId, emailId }, async () => NO_LINKS)
      const { from, to, cc, subject } = inboundRowView(row)
      const { html, text } = await contentOf(find, row)
      return {
        ...{ from, to, cc, subject, time: row.createdAt, text, hasHtml: html !== null },
        html: async () =>
          html && withInlineImages(html, storedParts(row), part => openPart(store, row.rawHash, part)),
      }
    },
  }
}

/**
 * Reads a sent email for a page.
 * @param linksOf returns the links for placeholders of the content
 * @returns undefined if it does not exist or is outside the retention window
 */
export async function sentEmail(
  { store: { find }, horizonOf }: OwnEmailOptions,
  { accountId, emailId: id }: MailRef,
  linksOf: (email: EmailWithLinks) => Promise<PersonalLinks>,
): Promise<SharedEmail | undefined> {
  const columns = ['sender', 'toList', 'ccList', 'subject', 'createdAt', 'scheduledAt'] as const
  const personal = ['variables', 'broadcastId', 'topicId', 'linkTermsId'] as const
  const [email] = await find('emails', [{ accountId, id }], [...columns, ...personal, 'endedAt', 'contentId'])
  if (!email || !isVisible(email, await horizonOf(accountId))) return undefined
  const [stored] = await find('contents', [{ id: email.contentId }], ['encoding', 'body'])
  if (!stored) return undefined
  const links = await linksOf({ ...email, accountId, id })
  const { html, text } = personalContent({ ...email, content: decodeContent(stored) }, links)
  const texts = (list: string | null) => parseStoredMailboxes(list).map(mailboxText)
  return {
    ...{ from: texts(email.sender).join(', '), to: texts(email.toList), cc: texts(email.ccList) },
    ...{ subject: email.subject, time: email.scheduledAt ?? email.createdAt, text, hasHtml: html !== null },
    html: async () => html,
  }
}
