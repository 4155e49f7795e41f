/**
 * Evaluates DMARC: whether the domains authenticated by SPF and DKIM align with the From domain (RFC 7489,
 * RFC 9989).
 */
import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js'
import { type BoundedCheckOptions, plainText, resultOf, runBoundedCheck } from './bounded-check.ts'
import type { CheckedDkim, Verified } from './dkim.ts'
import type { ShownAuthors } from './sanitize.ts'
import type { DmarcFinding, SpfFinding } from './verdict.ts'

/** A tree walk takes at most eight look-ups (RFC 9989 §4.10), and legitimate mail needs few walks. */
const LIMITS = { ms: 10_000, lookups: 30 }
/** Reasons why a message has no single author domain (RFC 9989 §5.3.1). */
const NO_AUTHOR = {
  'no-author-domain': 'there is no domain in a From field',
  'multiple-author-domains': 'the From field names several domains',
  'invalid-author-domain': 'the From field has an address without a domain',
  'multiple-from-fields': 'there are several From fields',
}

export async function judgeDmarc(
  spf: SpfFinding,
  dkim: CheckedDkim,
  { verified, authors }: { verified: Verified; authors: ShownAuthors },
  options: BoundedCheckOptions,
): Promise<DmarcFinding> {
  const proven = dkim.signatures.filter(({ result }) => result === 'pass')
  return runBoundedCheck<DmarcFinding>(
    options,
    LIMITS,
    async ({ ask: resolver }) => {
      const { response, reason } = await evaluateDmarc({
        ...authorsOf(verified, authors),
        spfDomains: spf.result === 'pass' && spf.domain !== undefined ? [spf.domain] : [],
        dkimDomains: proven.map(({ domain }) => ({ domain: domain! })),
        resolver,
        strict: true,
      })
      if (!response) return { result: 'permerror', reason: NO_AUTHOR[reason ?? 'no-author-domain'] }
      const { status, policy, error } = response
      const domain = plainText(status.header?.from)
      const result = resultOf(status.result)
      const unknown = [spf, ...dkim.signatures, dkim].find(one => one.result === 'temperror')
      if (result === 'fail' && unknown)
        return {
          result: 'temperror',
          domain,
          policy,
          reason: `an identifier could not be checked: ${unknown.reason}`,
        }
      return { result, domain, policy, reason: reasonOf(result, error) }
    },
    fault => fault,
  )
}

/**
 * Returns the author addresses of both readings of the From field: mailauth's, and the one that users are
 * shown. If the readings name different domains, or if no From field is shown, DMARC has no author domain and
 * cannot pass.
 */
function authorsOf({ headerFrom, fromFields }: Verified, { addresses, fieldCount }: ShownAuthors) {
  if (addresses.length === 0) return { headerFrom: [], fromFields }
  // mailauth takes text without an @ for a domain.
  const shown = addresses.map(address => (address.includes('@') ? address : `${address}@`))
  return { headerFrom: [...shown, ...headerFrom], fromFields: Math.max(fromFields, fieldCount) }
}

function reasonOf(result: DmarcFinding['result'], error: string | undefined): string | undefined {
  if (result === 'fail') return 'neither SPF nor DKIM passes for the domain in From'
  return result === 'none' ? 'the domain in From asks for nothing' : plainText(error)
}
