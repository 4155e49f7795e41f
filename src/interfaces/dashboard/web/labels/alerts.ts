/** Texts of alerts: what happened, how to fix it, and on which page. */
import { type AlertKind, factsOfKind } from '../../../../resources/alerts/kinds.ts'
import type { Alert } from '../api/types.ts'
import { capitalized } from './faults.ts'
import { exactTime } from './time.ts'

interface AlertWords {
  what: string
  /** How to fix it. */
  fix: string
  /** Page on which it is fixed. */
  href: string
  act: string
}

const FIXES: { readonly [K in AlertKind]: Omit<AlertWords, 'what'> } = {
  'ip-reputation': {
    fix: 'Check whether the IP address is on a blocklist and which account causes bounces or complaints. Send less to this provider until its reputation recovers.',
    href: '/destinations',
    act: 'View destinations',
  },
  authentication: {
    fix: 'Check the DNS records of the sending domain: SPF or DKIM must pass and align for DMARC.',
    href: '/domains',
    act: 'View domains',
  },
  'smart-host-login': {
    fix: 'Correct its user name and password in the configuration, then retry the deferred deliveries.',
    href: '/queue',
    act: 'View queue',
  },
  certificate: {
    fix: 'See Deliverability for the reason. The current certificate stays in use until it expires.',
    href: '/deliverability',
    act: 'View diagnostics',
  },
  'mta-sts': {
    fix: 'The MTA-STS policy is not enforced until they can. Install a valid certificate for the MX host, or let this server reach its own public address.',
    href: '/deliverability',
    act: 'View diagnostics',
  },
  'task-parked': {
    fix: 'Report the error, which the log has as uncaught_error.',
    href: '/deliverability',
    act: 'View diagnostics',
  },
  'database-damaged': {
    fix: 'Stop the service and restore a backup.',
    href: '/deliverability',
    act: 'View diagnostics',
  },
  'disk-space': {
    fix: 'Free disk space or shorten the retention of plans. Email is not accepted when the disk is full.',
    href: '/deliverability',
    act: 'View diagnostics',
  },
  'disk-sync': {
    fix: 'Move data_dir to a faster disk: every accepted email waits for it.',
    href: '/deliverability',
    act: 'View diagnostics',
  },
  'certificate-expiry': {
    fix: 'See Deliverability for the reason.',
    href: '/deliverability',
    act: 'View diagnostics',
  },
  clock: {
    fix: 'Synchronize it with NTP: signatures, certificates and links depend on it.',
    href: '/deliverability',
    act: 'View diagnostics',
  },
  backup: {
    fix: 'See Deliverability for the reason. The service tries again every hour.',
    href: '/deliverability',
    act: 'View diagnostics',
  },
  'account-bounces': {
    fix: 'Ask where its recipient addresses come from, and hold the account until its lists are cleaned.',
    href: '/accounts',
    act: 'View accounts',
  },
  'account-complaints': {
    fix: 'Ask whether its recipients opted in, and hold the account until that is clear.',
    href: '/accounts',
    act: 'View accounts',
  },
}

export function alertWords({ kind }: Pick<Alert, 'kind'>): AlertWords {
  const fixed: Omit<AlertWords, 'what'> | undefined = FIXES[kind as AlertKind]
  return {
    what: factsOfKind(kind).title,
    ...(fixed ?? {
      fix: 'See the server’s reply and the time.',
      href: '/deliverability',
      act: 'View alerts',
    }),
  }
}

/** Subject of an alert: a provider, a domain, an account or a source IP address. */
export function aboutWords({ provider, domain, account_id, account_name, source_ip }: Alert): string {
  const known = provider === 'other' ? null : provider
  const account = account_id && (account_name ?? 'a deleted account')
  return [known, domain, account, source_ip && `from ${source_ip}`].filter(Boolean).join(', ')
}

/** Says when an alert ended and until when it is silenced, or how to fix it. */
export function alertState(alert: Pick<Alert, 'kind' | 'ended_at' | 'silence'>): string {
  const silence = silenceWords(alert)
  const parts = [alert.ended_at && `ended ${exactTime(alert.ended_at)}`, silence].filter(Boolean)
  return parts.length > 0 ? `${capitalized(parts.join(', '))}.` : alertWords(alert).fix
}

/** Says until when an alert is silenced, and by whom; undefined when it is not. */
export function silenceWords({ silence }: Pick<Alert, 'silence'>): string | undefined {
  return silence ? `silenced until ${exactTime(silence.until)} by ${silence.created_by}` : undefined
}
