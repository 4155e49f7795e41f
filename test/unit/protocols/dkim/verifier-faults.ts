/**
 * Lists where other verifiers deviate from RFC 6376, by message of the corpus. When a verifier no longer
 * deviates, the test fails and its line must be removed.
 */
export type Verifier = 'mailauth' | 'dkimpy' | 'opendkim'

export interface Fault {
  /** `hangs`: it is not asked. */
  verdict: 'fail' | 'hangs'
  reason: string
}

const lfIsLineEnd: Fault = {
  verdict: 'fail',
  reason: 'takes an LF alone for a line end; such octets never travel in SMTP (RFC 5321 §2.3.8)',
}
const dropsCr: Fault = {
  verdict: 'fail',
  reason: 'drops a CR that no LF follows from a relaxed body; it never travels in SMTP either',
}
const formFeedIsBlank: Fault = {
  verdict: 'fail',
  reason: 'cuts form feeds off the end of a field, where RFC 6376 §2.8 knows SP and TAB only',
}
const quadratic: Fault = {
  verdict: 'hangs',
  reason: 'takes time in the square of a run of blanks that ends no line',
}

const bareLf = {
  'a bare LF': lfIsLineEnd,
  'a blank before a bare LF': lfIsLineEnd,
  'a bare LF last': lfIsLineEnd,
}

const faults: Record<Verifier, Record<string, Fault>> = {
  mailauth: bareLf,
  dkimpy: {
    ...bareLf,
    'form feed in a field': formFeedIsBlank,
    'a line of a million blanks': quadratic,
    '100,000 tabs and blanks': quadratic,
  },
  opendkim: {
    'a bare CR': dropsCr,
    'a blank before a bare CR': dropsCr,
    'form feed in a field': formFeedIsBlank,
  },
}

export function faultOf(verifier: Verifier, message: string): Fault | undefined {
  return faults[verifier][message]
}

/** Messages that every verifier named gets wrong would prove nothing. */
export function verifiersThatAccept(message: string): Verifier[] {
  return (Object.keys(faults) as Verifier[]).filter(verifier => faultOf(verifier, message) === undefined)
}

/** Names that no message has any more. */
export function strayFaults(messages: readonly string[]): string[] {
  return Object.values(faults)
    .flatMap(Object.keys)
    .filter(name => !messages.includes(name))
}
