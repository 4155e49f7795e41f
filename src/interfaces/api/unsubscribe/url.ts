/** Creates the personal links of an email of a broadcast, for showing the rendered content. */
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { createEmailLinks } from '../../../pipeline/tracking/email-links.ts'
import { parseStoredMailboxes } from '../../../resources/emails/email-rows.ts'
import { createLinkTermsCache } from '../../../resources/emails/link-terms.ts'
import { NO_LINKS, type PersonalLinks } from '../../../resources/templates/personal.ts'
import type { EmailRow } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'

export type EmailWithLinks = Pick<
  EmailRow,
  'accountId' | 'id' | 'sender' | 'toList' | 'broadcastId' | 'topicId' | 'linkTermsId'
>

/** @returns a function that returns empty links for an email that belongs to no broadcast */
export function createFindPersonalLinks({
  find,
  secrets,
}: {
  find: Find
  secrets: SecretKeys
}): (email: EmailWithLinks) => Promise<PersonalLinks> {
  const findTerms = createLinkTermsCache(find)
  return async email => {
    const { accountId, id: emailId, broadcastId, topicId, sender, toList, linkTermsId } = email
    if (broadcastId === null || linkTermsId === null) return NO_LINKS
    const fromDomain = parseStoredMailboxes(sender)[0]!.domain
    const linked = { accountId, emailId, broadcastId, topicId, fromDomain }
    const links = createEmailLinks(secrets, await findTerms(linkTermsId), linked)
    return links.personal({ ordinal: 0, address: parseStoredMailboxes(toList)[0]?.address ?? '' })
  }
}
