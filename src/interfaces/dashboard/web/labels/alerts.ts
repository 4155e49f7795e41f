/** What mail servers and accounts give the operator to see to: what it is, what to do, and where. */
import type { Alert } from '../api/types.ts'

interface AlertWords {
  what: string
  /** How it is put right. */
  fix: string
  /** Where it is seen to. */
  href: string
  act: string
}

const WORDS: Readonly<Record<string, AlertWords>> = {
  'ip-reputation': {
    what: 'A mailbox provider distrusts our address.',
    fix: 'See whether the address is on a block list, and which account’s mail is refused or complained about. Send less there until it is over.',
    href: '/destinations',
    act: 'See how they take our mail',
  },
  authentication: {
    what: 'A mailbox provider does not believe that mail is from its sender.',
    fix: 'Check the records of the domain that it is sent from: SPF, DKIM and DMARC have to agree.',
    href: '/domains',
    act: 'See the domains',
  },
  'smart-host-login': {
    what: 'The relay refuses our login.',
    fix: 'Set its user and password anew in the configuration, then try what waits for it.',
    href: '/queue',
    act: 'See what waits',
  },
  certificate: {
    what: 'A certificate could not be renewed.',
    fix: 'The check-up says why. What is there stays in use until it ends.',
    href: '/deliverability',
    act: 'See the check-up',
  },
  'account-bounces': {
    what: 'Much of an account’s mail bounces.',
    fix: 'Ask where its addresses come from; hold the account until they have been cleared.',
    href: '/accounts',
    act: 'See the accounts',
  },
  'account-complaints': {
    what: 'Much of an account’s mail is marked as spam.',
    fix: 'Ask whether its readers wanted the mail; hold the account until that is clear.',
    href: '/accounts',
    act: 'See the accounts',
  },
}

export function alertWords({ kind }: Pick<Alert, 'kind'>): AlertWords {
  return (
    WORDS[kind] ?? {
      what: kind,
      fix: 'See what was said, and when.',
      href: '/deliverability',
      act: 'See the alerts',
    }
  )
}

/** Whom it is about: a provider, a domain, an account, an address of ours. */
export function aboutWords({ provider, domain, account_id, source_ip }: Alert): string {
  return [provider, domain, account_id, source_ip && `from ${source_ip}`].filter(Boolean).join(', ')
}
