/** Creates the unsubscribe link of an email of a broadcast, for showing the rendered content. */
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { createEmailLinks } from '../../../pipeline/tracking/email-links.ts'
import { parseStoredMailboxes } from '../../../resources/emails/email-rows.ts'
import { createLinkTermsCache } from '../../../resources/emails/link-terms.ts'
import type { EmailRow } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'

type ListedEmail = Pick<
  EmailRow,
  'accountId' | 'id' | 'sender' | 'toList' | 'broadcastId' | 'topicId' | 'linkTermsId'
>

/** @returns a function that returns an empty string for an email without an unsubscribe link */
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
