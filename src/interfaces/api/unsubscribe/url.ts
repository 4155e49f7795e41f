/**
 * The link by which the recipient of a broadcast's email leaves its list, for showing what the email says.
 */
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { createEmailLinks } from '../../../pipeline/tracking/email-links.ts'
import { parseStoredMailboxes } from '../../../resources/emails/email-rows.ts'
import { createLinkTermsCache } from '../../../resources/emails/link-terms.ts'
import type { Find } from '../../../store/read.ts'
import type { EmailRow } from '../../../store/schema.ts'

type ListedEmail = Pick<
  EmailRow,
  'accountId' | 'id' | 'sender' | 'toList' | 'broadcastId' | 'topicId' | 'linkTermsId'
>

/** @returns empty where the email has none */
export function createFindUnsubscribeUrl({
  find,
  secrets,
}: {
  find: Find
  secrets: SecretKeys
}): (email: ListedEmail) => Promise<string> {
  const findTerms = createLinkTermsCache(find)
  return async email => {
    const { accountId, id: emailId, broadcastId, topicId, sender, toList, linkTermsId } = email
    if (broadcastId === null || linkTermsId === null) return ''
    const fromDomain = parseStoredMailboxes(sender)[0]!.domain
    const linked = { accountId, emailId, broadcastId, topicId, fromDomain }
    const links = createEmailLinks(secrets, await findTerms(linkTermsId), linked)
    return links.unsubscribeUrl({ ordinal: 0, address: parseStoredMailboxes(toList)[0]?.address ?? '' })
  }
}
