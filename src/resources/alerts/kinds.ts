/**
 * Lists the kinds of alerts, each with its title. `critical` is what stops mail or loses it, `warning` is
 * what can wait. Browsers run this file, too, so it imports nothing.
 */

interface AlertKindFacts {
  /** A sentence that says what happened. */
  title: string
  severity: 'critical' | 'warning'
}

export const ALERT_KINDS = {
  'ip-reputation': { title: 'A mailbox provider reports a poor IP reputation.', severity: 'warning' },
  authentication: { title: 'A mailbox provider reports an authentication failure.', severity: 'warning' },
  'smart-host-login': { title: 'The smart host rejects the login.', severity: 'critical' },
  certificate: { title: 'A certificate could not be renewed.', severity: 'warning' },
  'mta-sts': { title: 'Senders cannot verify the certificate of port 25.', severity: 'warning' },
  'task-parked': {
    title: 'A background task ends the service again and again and is not run for an hour.',
    severity: 'critical',
  },
  'database-damaged': { title: 'The database has damaged pages.', severity: 'critical' },
  'disk-space': { title: 'The disk is nearly full.', severity: 'critical' },
  'disk-sync': { title: 'The disk is slow.', severity: 'warning' },
  'certificate-expiry': {
    title: 'The certificate of the mail ports is about to expire or cannot be used.',
    severity: 'critical',
  },
  clock: { title: 'The system clock is wrong.', severity: 'warning' },
  backup: { title: 'There is no recent backup, or a scheduled one has failed.', severity: 'warning' },
  'account-bounces': { title: 'An account has a high bounce rate.', severity: 'warning' },
  'account-complaints': { title: 'An account has a high complaint rate.', severity: 'warning' },
} as const satisfies Record<string, AlertKindFacts>

export type AlertKind = keyof typeof ALERT_KINDS

/** Returns the facts of a kind; one that is not known is its own title. */
export function factsOfKind(kind: string): AlertKindFacts {
  return Object.hasOwn(ALERT_KINDS, kind)
    ? ALERT_KINDS[kind as AlertKind]
    : { title: kind, severity: 'warning' }
}

/** Tells whether alerts of the kind are about an account, whose id then stands in place of a provider. */
export function isAboutAccount(kind: string): boolean {
  return kind.startsWith('account-')
}
