/** Labels of an SMTP transcript: its phases, and the TLS state of its connections. */

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

interface HostTalk {
  tls: { version: string; verified: boolean } | null
  policy: string
  phases: readonly { phase: string; reply: string | null }[]
}

/**
 * Describes the TLS state of a connection; undefined if no session was opened, since a host tells its
 * extensions in the reply to EHLO only. A connection that is used again begins at MAIL FROM.
 */
export function securityWords({ tls, policy, phases }: HostTalk): string | undefined {
  if (!tls) {
    if (phases.every(({ phase }) => phase === 'connect')) return 'no connection'
    const isOpened = phases.some(({ phase, reply }) =>
      phase === 'ehlo' ? reply !== null : phase !== 'connect' && phase !== 'banner',
    )
    if (!isOpened) return undefined
    const isTried = phases.some(({ phase }) => phase === 'starttls' || phase === 'tls')
    return isTried ? 'not encrypted' : 'not encrypted: the server does not offer STARTTLS'
  }
  const by = policy === 'dane' ? ', required by DANE' : policy === 'mta-sts' ? ', required by MTA-STS' : ''
  const version = tls.version.replace('TLSv', 'TLS ')
  return `${version}, ${tls.verified ? 'verified certificate' : 'unverified certificate (normal for SMTP)'}${by}`
}
