/** Builds the Authentication-Results field (RFC 8601) with the mail host as its authserv-id. */
import { printableAscii } from '../../../lib/printable-ascii.ts'
import { foldTokens } from '../../../protocols/mime/fold.ts'
import type { Authentication, CheckFinding, DkimSignature } from './verdict.ts'

export const RESULTS_FIELD = 'Authentication-Results'

/** Values that need no quotes: tokens (RFC 2045 §5.1) and addresses (RFC 8601 §2.2). */
const TOKEN = /^[!#$%&'*+\-.^_`{|}~A-Za-z0-9]+$/
const ADDRESS = /^[!#$%&'*+\-/=?^_`{|}~A-Za-z0-9.]*@[A-Za-z0-9.-]+$/
const VALUE_CHARACTERS_MAX = 300

/**
 * Formats the value of the field, folded.
 *
 * @param mailHost authserv-id of this host
 */
export function resultsValue(mailHost: string, authentication: Authentication): string {
  const { spf, dkim, dmarc, arc } = authentication
  const signatures: readonly (DkimSignature | CheckFinding)[] =
    dkim.signatures.length > 0 ? dkim.signatures : [dkim]
  const results = [
    resultOf('spf', spf, { [`smtp.${spf.identity ?? 'mailfrom'}`]: spf.domain }),
    ...signatures.map(signature => resultOf('dkim', signature, signatureProperties(signature))),
    resultOf('dmarc', dmarc, { 'header.from': dmarc.domain, 'policy.dmarc': dmarc.policy }),
    resultOf('arc', arc, {}),
  ]
  const lines = results.map(tokens => foldTokens(tokens, 1))
  return [mailHost, ...lines].join(';\r\n ')
}

function signatureProperties(signature: DkimSignature | CheckFinding): Record<string, string | undefined> {
  if (!('domain' in signature)) return {}
  const { domain, selector, algorithm, beginning } = signature
  return { 'header.d': domain, 'header.s': selector, 'header.a': algorithm, 'header.b': beginning }
}

function resultOf(
  method: string,
  { result, reason }: CheckFinding,
  properties: Record<string, string | undefined>,
): string[] {
  return [
    `${method}=${result}`,
    ...(reason === undefined ? [] : `reason=${quoted(reason)}`.split(' ')),
    ...Object.entries(properties).flatMap(([name, value]) =>
      value ? [`${name}=${propertyText(value)}`] : [],
    ),
  ]
}

function propertyText(value: string): string {
  return value.length <= VALUE_CHARACTERS_MAX && (TOKEN.test(value) || ADDRESS.test(value))
    ? value
    : quoted(value)
}

function quoted(text: string): string {
  const safe = printableAscii(text, VALUE_CHARACTERS_MAX)
  return `"${safe.replace(/[\\"]/g, '\\$&')}"`
}
