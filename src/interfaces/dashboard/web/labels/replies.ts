/** Plain-language explanations of SMTP replies, by enhanced status code (RFC 3463) or text. */

const LATER = 'The receiving server uses greylisting. Mailhorn retries automatically.'

/** Explanations by enhanced status code or text. The first match counts. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/\b5\.1\.1\b/, 'The mailbox does not exist. Check the address for typos.'],
  [/\b5\.1\.2\b/, 'The recipient’s domain does not exist or does not accept mail.'],
  [/\b5\.1\.3\b/, 'The recipient address is not valid.'],
  [/\b5\.1\.6\b/, 'The mailbox has moved without a forwarding address.'],
  [/\b5\.1\.10\b/, 'The domain does not accept mail (null MX).'],
  [/\b[45]\.2\.1\b/, 'The mailbox is disabled or does not accept mail at the moment.'],
  [/\b[45]\.2\.2\b/, 'The mailbox is full.'],
  [/\b[45]\.2\.3\b|\b5\.3\.4\b/, 'The message is too large for this mailbox.'],
  [/\b4\.3\.[12]\b/, 'The receiving server is out of storage or does not accept mail at the moment.'],
  [/\b[45]\.4\.1\b/, 'The receiving server did not answer.'],
  [/\b[45]\.4\.4\b/, 'No mail server was found for this domain.'],
  [/\b5\.4\.6\b/, 'The receiving side has a mail loop for this address.'],
  [/\b4\.4\.7\b|expired after/i, 'The message expired: every retry was deferred.'],
  [/gr[ea]y.?list/i, LATER],
  [
    /\b[45]\.7\.2[0-9]\b|DMARC|SPF|DKIM/i,
    'Authentication failed (SPF, DKIM or DMARC). Check the DNS records of your domain.',
  ],
  [
    /\b[45]\.7\.1\b.*(?:block|list|spam|reputation)|spamhaus|barracuda/i,
    'The receiving server blocks the sending IP address, which may be on a blocklist. See Deliverability.',
  ],
  [/\b5\.7\.1\b/, 'The receiving server rejected the message because of a local policy.'],
  [/\b4\.7\.1\b/, LATER],
  [
    /\b4\.7\.0\b|rate|too many|throttl/i,
    'The receiving server is rate limiting. Mailhorn slows down and retries automatically.',
  ],
  [/suppress/i, 'The address is on your suppression list.'],
  [/TLS|certificate/i, 'A secure TLS connection to the receiving server could not be established.'],
  [/ECONNREFUSED|refused the connection/i, 'The receiving server refused the connection.'],
  [/ETIMEDOUT|timed out|timeout/i, 'The connection to the receiving server timed out.'],
  [/^4\d\d\b/, 'The receiving server deferred the message. Mailhorn retries automatically.'],
  [/^5\d\d\b/, 'The receiving server rejected the message permanently.'],
]

/** Returns undefined if there is nothing to explain. */
export function meaningOf(reply: string | null): string | undefined {
  if (!reply || /^2\d\d\b/.test(reply)) return undefined
  return MEANINGS.find(([form]) => form.test(reply))?.[1]
}

/** Phases of an SMTP session, as in a transcript: the command, and what it does. */
const PHASES: Readonly<Record<string, readonly [label: string, meaning: string]>> = {
  connect: ['Connect', 'Opened a TCP connection to the server'],
  banner: ['Banner', 'Waited for the greeting of the server'],
  ehlo: ['EHLO', 'Introduced the client and asked which extensions the server supports'],
  starttls: ['STARTTLS', 'Requested TLS encryption'],
  tls: ['TLS handshake', 'Negotiated the encryption and checked the certificate'],
  auth: ['AUTH', 'Logged in'],
  mail: ['MAIL FROM', 'Named the envelope sender'],
  rcpt: ['RCPT TO', 'Named the envelope recipient'],
  data: ['DATA', 'Asked to transmit the message'],
  body: ['Message body', 'Transmitted the message'],
  'final-dot': ['End of data', 'Waited for the server to accept or reject the message'],
  rset: ['RSET', 'Reset the transaction'],
  quit: ['QUIT', 'Closed the session'],
}

export function phaseLabel(phase: string): string {
  return PHASES[phase]?.[0] ?? phase
}

/** Explains the phase in a tooltip. */
export function phaseMeaning(phase: string): string | undefined {
  return PHASES[phase]?.[1]
}

/** Describes the TLS state of a connection. */
export function securityWords(tls: { version: string; verified: boolean } | null, policy: string): string {
  if (!tls) return 'not encrypted: the server does not offer STARTTLS'
  const by = policy === 'dane' ? ', required by DANE' : policy === 'mta-sts' ? ', required by MTA-STS' : ''
  const version = tls.version.replace('TLSv', 'TLS ')
  return `encrypted with ${version}, ${tls.verified ? 'certificate verified' : 'certificate not verified'}${by}`
}
