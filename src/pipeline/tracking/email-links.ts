/**
 * The links of ours that one email has: the pixel, links that are counted, and the ways to leave its list.
 */
import type { Id } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'
import type { LinkTerms } from '../../resources/emails/link-terms.ts'
import type { LinkPlan } from './find-links.ts'
import { rewriteHtml } from './rewrite.ts'
import { createClickToken, createOpenToken } from './tokens.ts'
import { createMailToken, createUnsubscribeToken } from './unsubscribe-token.ts'

export interface LinkedEmail {
  accountId: Id
  emailId: Id
  broadcastId: Id | null
  topicId: Id | null
  /** Of its sender. */
  fromDomain: string
}

/** One of its recipients. */
export interface LinkedRecipient {
  ordinal: number
  address: string
}

export interface EmailLinks {
  /** Whether its recipients get a page each of its own. */
  isTracked: boolean
  /** Whether it is mail that one can leave: of a broadcast, or about a topic. */
  isList: boolean
  /** @param html with everything else in its place. @param plan of it */
  track(html: string, plan: LinkPlan, recipient: LinkedRecipient): string
  unsubscribeUrl(recipient: LinkedRecipient): string
  /** `List-Unsubscribe` (RFC 2369 §3.2) and `List-Unsubscribe-Post` (RFC 8058 §3.1). */
  listFields(recipient: LinkedRecipient): HeaderField[]
}

/** What visitors of our own links are shown by; such links are never counted themselves. */
const OWN_PATH = /^\/[ocus]\//

export function createEmailLinks(secrets: SecretKeys, terms: LinkTerms, email: LinkedEmail): EmailLinks {
  const { accountId, emailId, broadcastId, topicId, fromDomain } = email
  const { baseUrl } = terms
  const isOwn = (url: string) => url.startsWith(baseUrl) && OWN_PATH.test(url.slice(baseUrl.length))

  let last: { address: string; token: string } | undefined
  /** The body and the head of a message have the same. */
  const tokenOf = ({ address }: LinkedRecipient) => {
    if (last?.address === address) return last.token
    const subscription = { accountId, address: foldAddress(address), topicId, broadcastId }
    last = { address, token: createUnsubscribeToken(secrets, subscription) }
    return last.token
  }
  return {
    isTracked: terms.opens || terms.clicks,
    isList: broadcastId !== null || topicId !== null,
    track(html, plan, { ordinal }) {
      const recipient = { accountId, emailId, ordinal }
      return rewriteHtml(html, plan, {
        linkUrl: terms.clicks
          ? (target, number) =>
              isOwn(target)
                ? undefined
                : `${baseUrl}/c/${createClickToken(secrets, recipient, { number, target })}`
          : null,
        pixelUrl: terms.opens ? `${baseUrl}/o/${createOpenToken(secrets, recipient)}` : null,
      })
    },
    unsubscribeUrl: recipient => `${baseUrl}/u/${tokenOf(recipient)}`,
    listFields(recipient) {
      const token = tokenOf(recipient)
      const mailToken = createMailToken(secrets, { emailId, ordinal: recipient.ordinal })
      const mail = `mailto:${unsubscribeAddress(mailToken, fromDomain)}?subject=${token}`
      return [
        { name: 'List-Unsubscribe', value: `<${baseUrl}/u/${token}>,\r\n <${mail}>` },
        { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
      ]
    },
  }
}

/** `u+<token>@send.<domain>`: mail to it unsubscribes. */
export function unsubscribeAddress(token: string, fromDomain: string): string {
  return `u+${token}@send.${fromDomain}`
}
