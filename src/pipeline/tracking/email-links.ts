/**
 * Creates the tracking pixel, click links and unsubscribe links of an email.
 *
 * In the folder: this file puts links into HTML when `delivery` composes a message, at the
 * positions that `rewrite-plan-cache.ts` has found. When a recipient follows a link, the HTTP API reads its
 * token (`tokens.ts`, `unsubscribe-token.ts`) and passes visits to `visit-batcher.ts`, or opt-outs to
 * `preferences.ts`. Out go events, counts and changes of contacts.
 */
import type { Id } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'
import type { LinkTerms } from '../../resources/emails/link-terms.ts'
import { escapeHtml } from '../../resources/templates/escape-html.ts'
import type { PersonalLinks } from '../../resources/templates/personal.ts'
import type { LinkPlan } from './find-links.ts'
import { createClickToken, createOpenToken, createViewToken } from './tokens.ts'
import { createMailToken, createUnsubscribeToken } from './unsubscribe-token.ts'

export interface LinkedEmail {
  accountId: Id
  emailId: Id
  broadcastId: Id | null
  topicId: Id | null
  /** Domain of the sender. */
  fromDomain: string
}

export interface LinkedRecipient {
  ordinal: number
  address: string
}

export interface EmailLinks {
  /** Whether opens or clicks are tracked, so that the HTML differs by recipient. */
  isTracked: boolean
  /** Whether recipients can unsubscribe: the email belongs to a broadcast or a topic. */
  isList: boolean
  /**
   * @param html is the final HTML except for the links
   * @param plan is the plan of that HTML
   */
  track(html: string, plan: LinkPlan, recipient: LinkedRecipient): string
  /** URLs for placeholders of the content. */
  personal(recipient: LinkedRecipient): PersonalLinks
  /**
   * `List-Unsubscribe` (RFC 2369 §3.2) and `List-Unsubscribe-Post` (RFC 8058 §3.1), which mailbox providers
   * ignore unless the link is https.
   */
  listFields(recipient: LinkedRecipient): HeaderField[]
}

/** Paths of pixel, click, unsubscribe, share and view links. Such links are not tracked themselves. */
const OWN_PATH = /^\/[ocusv]\//

export function createEmailLinks(secrets: SecretKeys, terms: LinkTerms, email: LinkedEmail): EmailLinks {
  const { accountId, emailId, broadcastId, topicId, fromDomain } = email
  const { baseUrl } = terms
  // that of a broadcast follows from its id
  const senderDomain = broadcastId === null ? fromDomain : undefined
  const isOwn = (url: string) => url.startsWith(baseUrl) && OWN_PATH.test(url.slice(baseUrl.length))

  let last: { address: string; token: string } | undefined
  /** The token of the last recipient, because head and body of a message use the same one. */
  const tokenOf = ({ address }: LinkedRecipient) => {
    if (last?.address === address) return last.token
    const subscription = { accountId, address: foldAddress(address), topicId, broadcastId, senderDomain }
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
    personal: recipient => ({
      unsubscribeUrl: () => `${baseUrl}/u/${tokenOf(recipient)}`,
      viewUrl: () => {
        const { ordinal } = recipient
        return `${baseUrl}/v/${createViewToken(secrets, { accountId, emailId, ordinal })}`
      },
    }),
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

interface Rewriting {
  /** Returns the URL that replaces the link; undefined keeps it. For `number` see `HtmlLink`. */
  linkUrl: ((target: string, number: number | null) => string | undefined) | null
  /** Null inserts no pixel. */
  pixelUrl: string | null
}

/**
 * Replaces the links of HTML and inserts the pixel, and changes nothing else.
 * @param plan is the plan of the same HTML
 */
export function rewriteHtml(html: string, plan: LinkPlan, { linkUrl, pixelUrl }: Rewriting): string {
  let text = ''
  let at = 0
  let isPixelDue = pixelUrl !== null
  const upTo = (position: number) => {
    text += html.slice(at, position)
    at = position
  }
  const pixelBefore = (position: number) => {
    if (!isPixelDue || plan.pixelAt > position) return
    upTo(plan.pixelAt)
    text += pixel(pixelUrl!)
    isPixelDue = false
  }
  if (linkUrl)
    for (const { start, end, number, target } of plan.links) {
      const url = linkUrl(target, number)
      if (url === undefined) continue
      pixelBefore(start)
      upTo(start)
      text += escapeHtml(url)
      at = end
    }
  pixelBefore(html.length)
  upTo(html.length)
  return text
}

/** The pixel is invisible even where images are not shown. */
function pixel(url: string): string {
  return `<img src="${escapeHtml(url)}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`
}
