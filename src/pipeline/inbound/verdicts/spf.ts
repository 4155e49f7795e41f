/** Evaluates SPF: whether the client may send for the domain of the envelope sender (RFC 7208). */
import { spf } from 'mailauth/lib/spf/index.js'
import { type BoundedCheckOptions, plainText, resultOf, runBoundedCheck } from './bounded-check.ts'
import type { Envelope } from './mail.ts'
import type { SpfFinding } from './verdict.ts'

/**
 * RFC 7208 §4.6.4 requires at least 20 s, and at most 10 terms with look-ups and 2 void look-ups, which
 * mailauth counts.
 */
const LIMITS = { ms: 20_000, lookups: 50 }
const LOOKUPS_MAX = 10
const VOID_LOOKUPS_MAX = 2
const NAME_CHARACTERS_MAX = 255

export async function checkSpf(
  envelope: Envelope,
  mailHost: string,
  options: BoundedCheckOptions,
): Promise<SpfFinding> {
  const { mailFrom, clientIp } = envelope
  if (clientIp === null) return { result: 'none', reason: 'it came from this host itself' }
  const helo = envelope.helo.slice(0, NAME_CHARACTERS_MAX)
  const identity = mailFrom === '' ? ('helo' as const) : ('mailfrom' as const)
  if (mailFrom === '' && helo === '') return { result: 'none', identity, reason: 'neither sender nor HELO' }
  return runBoundedCheck<SpfFinding>(
    options,
    LIMITS,
    async dns => {
      const found = await spf({
        sender: mailFrom,
        ip: clientIp,
        helo,
        mta: mailHost,
        resolver: dns.ask,
        strict: true,
        maxResolveCount: LOOKUPS_MAX,
        maxVoidCount: VOID_LOOKUPS_MAX,
      })
      const result = resultOf(found.status.result)
      const reason = result === 'pass' ? undefined : reasonOf(found.status.comment, mailHost)
      return { result, domain: found.domain, identity, reason }
    },
    fault => ({ ...fault, identity }),
  )
}

function reasonOf(comment: string | undefined, mailHost: string): string | undefined {
  const text = plainText(comment)
  return text?.startsWith(`${mailHost}: `) ? text.slice(mailHost.length + 2) : text
}
