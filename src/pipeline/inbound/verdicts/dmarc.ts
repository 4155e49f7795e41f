/**
 * Evaluates DMARC: whether the domains authenticated by SPF and DKIM align with the From domain (RFC 7489,
 * RFC 9989).
 */

import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js'
import { domainOf } from '../../../protocols/smtp/address.ts'
import { type BoundedCheckOptions, plainText, resultOf, runBoundedCheck } from './bounded-check.ts'
import type { CheckedDkim, Verified } from './dkim.ts'
import type { ShownAuthors } from './sanitize.ts'
import type { DmarcFinding, SpfFinding } from './verdict.ts'

/** A tree walk takes at most eight look-ups (RFC 9989 §4.10), and legitimate mail needs few walks. */
const LIMITS = { ms: 10_000, lookups: 30 }
/** Reasons why a message has no single author (RFC 7489 §6.6.1) or author domain (RFC 9989 §5.3.1). */
const NO_AUTHOR = {
  'no-author-domain': 'there is no domain in a From field',
  'multiple-authors': 'the From field has several addresses',
  'multiple-author-domains': 'the From field names several domains',
  'invalid-author-domain': 'the From field has an address without a domain',
  'multiple-from-fields': 'there are several From fields',
  'no-address-list': 'the From field is not a list of addresses (RFC 5322 §3.4)',
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
      const author = authorOf(verified, authors)
      if ('fault' in author) return { result: 'permerror', reason: NO_AUTHOR[author.fault] }
      const { response, reason } = await evaluateDmarc({
        ...author,
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
 * Returns the author as both readings of the From field have it: the address that users are shown, and
 * mailauth's. If the readings name different domains, if one of them names nobody, or if users are shown
 * several addresses, there is no author, and DMARC cannot pass.
 */
function authorOf(
  { headerFrom, fromFields }: Verified,
  { addresses: [shown, ...others], fieldCount, areLists }: ShownAuthors,
): { headerFrom: string[]; fromFields: number } | { fault: keyof typeof NO_AUTHOR } {
  if (fieldCount > 1 || fromFields > 1) return { fault: 'multiple-from-fields' }
  if (shown === undefined || headerFrom.length === 0) return { fault: 'no-author-domain' }
  if (others.length > 0) return { fault: 'multiple-authors' }
  if (!areLists) return { fault: 'no-address-list' }
  const domain = foldedDomain(shown)
  if (headerFrom.some(address => foldedDomain(address) !== domain))
    return { fault: 'multiple-author-domains' }
  // mailauth takes text without an @ for a domain.
  const author = shown.includes('@') ? shown : `${shown}@`
  return { headerFrom: [author, ...headerFrom], fromFields }
}

function foldedDomain(address: string): string {
  return domainOf(address).trim().toLowerCase()
}

function reasonOf(result: DmarcFinding['result'], error: string | undefined): string | undefined {
  if (result === 'fail') return 'neither SPF nor DKIM passes for the domain in From'
  return result === 'none' ? 'the domain in From asks for nothing' : plainText(error)
}
