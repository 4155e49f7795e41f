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
/** mailauth looks up no domain with an underscore, so it is given this text in place of each. */
const UNDERSCORE = 'x5f5fx'

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
      const at = mailFrom.lastIndexOf('@') + 1
      const domain = mailFrom.slice(at)
      const restored = (text: string) => (domain.includes('_') ? text.replaceAll(UNDERSCORE, '_') : text)
      const found = await spf({
        sender: mailFrom.slice(0, at) + domain.replaceAll('_', UNDERSCORE),
        ip: clientIp,
        helo,
        mta: mailHost,
        resolver: (name, type) => dns.ask(restored(name), type),
        strict: true,
        maxResolveCount: LOOKUPS_MAX,
        maxVoidCount: VOID_LOOKUPS_MAX,
      })
      const result = resultOf(found.status.result)
      const reason = result === 'pass' ? undefined : reasonOf(restored(found.status.comment ?? ''), mailHost)
      return { result, domain: found.domain && restored(found.domain), identity, reason }
    },
    fault => ({ ...fault, identity }),
  )
}

function reasonOf(comment: string | undefined, mailHost: string): string | undefined {
  const text = plainText(comment)
  return text?.startsWith(`${mailHost}: `) ? text.slice(mailHost.length + 2) : text
}
