/** What receiving servers say, in words for people who do not speak SMTP (RFC 3463 codes). */

const LATER = 'The server asks newcomers to come back later. That is done by itself.'

/** By enhanced code, or what is said; the first that fits. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/\b5\.1\.1\b/, 'There is no such mailbox. Check the address for a typing error.'],
  [/\b5\.1\.2\b/, 'The part after the @ is no place that takes mail.'],
  [/\b5\.1\.3\b/, 'The receiving server cannot read this address.'],
  [/\b5\.1\.6\b/, 'The mailbox has moved and left no new address.'],
  [/\b5\.1\.10\b/, 'This domain says that it takes no mail at all.'],
  [/\b[45]\.2\.1\b/, 'The mailbox is closed, or takes no more mail for now.'],
  [/\b[45]\.2\.2\b/, 'The mailbox is full.'],
  [/\b[45]\.2\.3\b|\b5\.3\.4\b/, 'The message is too large for this mailbox.'],
  [/\b4\.3\.[12]\b/, 'The receiving server has no room, or is not taking mail, at the moment.'],
  [/\b[45]\.4\.1\b/, 'The receiving server did not answer.'],
  [/\b[45]\.4\.4\b/, 'No server was found that takes mail for this domain.'],
  [/\b5\.4\.6\b/, 'The receiving side sends mail for this address in a circle.'],
  [/\b4\.4\.7\b|expired after/i, 'It was tried for as long as is sensible, and never taken.'],
  [/gr[ea]y.?list/i, LATER],
  [
    /\b[45]\.7\.2[0-9]\b|DMARC|SPF|DKIM/i,
    'The receiving server does not believe that the mail is from you. Check the records of your domain.',
  ],
  [
    /\b[45]\.7\.1\b.*(?:block|list|spam|reputation)|spamhaus|barracuda/i,
    'The receiving server distrusts our address: it may be on a block list. See Deliverability.',
  ],
  [/\b5\.7\.1\b/, 'The receiving server refuses this mail by a rule of its own.'],
  [/\b4\.7\.1\b/, LATER],
  [/\b4\.7\.0\b|rate|too many|throttl/i, 'The server wants less mail at once. We slow down and try again.'],
  [/suppress/i, 'The address is on your suppression list.'],
  [/TLS|certificate/i, 'No safe connection to the receiving server came about.'],
  [/ECONNREFUSED|refused the connection/i, 'The receiving server takes no connections.'],
  [/ETIMEDOUT|timed out|timeout/i, 'The receiving server did not answer in time.'],
  [/^4\d\d\b/, 'The receiving server asks us to try again later. That is done by itself.'],
  [/^5\d\d\b/, 'The receiving server refuses this mail for good.'],
]

/** Undefined where there is nothing to explain. */
export function meaningOf(reply: string | null): string | undefined {
  if (!reply || /^2\d\d\b/.test(reply)) return undefined
  return MEANINGS.find(([form]) => form.test(reply))?.[1]
}

const PHASES: Readonly<Record<string, string>> = {
  connect: 'Connected',
  banner: 'The server greeted us',
  ehlo: 'We said who we are',
  starttls: 'We asked for encryption',
  tls: 'The connection was encrypted',
  auth: 'We signed in',
  mail: 'We named the sender',
  rcpt: 'We named the recipient',
  data: 'We asked to send the message',
  body: 'We sent the message',
  'final-dot': 'The server decided',
  rset: 'We began anew',
  quit: 'We said goodbye',
}

export function phaseWords(phase: string): string {
  return PHASES[phase] ?? phase
}

/** How the connection was secured, in words. */
export function securityWords(tls: { version: string; verified: boolean } | null, policy: string): string {
  if (!tls) return 'not encrypted: the server offers no encryption'
  const by =
    policy === 'dane'
      ? ', as its DNS demands (DANE)'
      : policy === 'mta-sts'
        ? ', as its policy demands (MTA-STS)'
        : ''
  const version = tls.version.replace('TLSv', 'TLS ')
  return `encrypted with ${version}, ${tls.verified ? 'certificate verified' : 'certificate not verified'}${by}`
}
