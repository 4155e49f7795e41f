/**
 * Refuses names that cannot be registered as a sending domain, because no account could publish their DNS
 * records.
 */
import { getPublicSuffix } from 'tldts'
import { isWithinDomain } from '../../protocols/dns/name.ts'

export interface OwnNames {
  mailHost: string
  simulatorDomain: string
}

/**
 * Mailbox providers; their subdomains are refused, too. The list need not be complete, since other names stay
 * unverified anyway.
 */
const MAILBOX_PROVIDERS = new Set(
  (
    '126.com 163.com aol.com att.net bk.ru bluewin.ch btinternet.com comcast.net fastmail.com free.fr freenet.de gmail.com ' +
    'gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hey.com hotmail.co.uk hotmail.com hotmail.fr icloud.com inbox.ru ' +
    'laposte.net libero.it list.ru live.com mac.com mail.com mail.ru me.com msn.com naver.com orange.fr outlook.com ' +
    'outlook.de pm.me proton.me protonmail.com qq.com rocketmail.com rogers.com sbcglobal.net seznam.cz t-online.de ' +
    'tutanota.com verizon.net web.de wp.pl yahoo.co.jp yahoo.co.uk yahoo.com yahoo.de yahoo.fr yandex.com yandex.ru ymail.com ' +
    'zohomail.com'
  ).split(' '),
)

/**
 * @param name A-labels, at least two labels
 * @returns the reason as a sentence if the name cannot be registered, otherwise undefined
 */
export function claimFault(name: string, { mailHost, simulatorDomain }: OwnNames): string | undefined {
  if (isWithinDomain(name, mailHost))
    return `\`name\` must not be in the provider zone ${mailHost}; got ${name}.`
  if (isWithinDomain(name, simulatorDomain))
    return `\`name\` must not be in the simulator domain ${simulatorDomain}, which needs no registration; got ${name}.`
  const provider = namesAbove(name).find(above => MAILBOX_PROVIDERS.has(above))
  if (provider !== undefined)
    return `\`name\` must be a domain that you own: ${provider} is a mailbox provider, and you cannot change its DNS records.`
  if (getPublicSuffix(name, { allowPrivateDomains: true }) === name)
    return `\`name\` must be a domain that you own: ${name} is a public suffix.`
  return undefined
}

/** Returns the name and its parent domains. */
function namesAbove(name: string): string[] {
  const labels = name.split('.')
  return labels.map((_, at) => labels.slice(at).join('.'))
}
