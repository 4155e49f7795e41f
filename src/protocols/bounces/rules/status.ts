/** Rules by enhanced status code (RFC 3463, RFC 7372, RFC 7505); 4.1 and 4.14 as Exchange uses them. */
import type { Rule } from './rule.ts'

/** Rules that excuse the address and outweigh all words. */
export const NEUTRAL_STATUS_RULES: readonly Rule[] = [
  {
    name: 'status 1.7, 1.8: sender',
    class: 'sender',
    statuses: ['1.7', '1.8'],
    sample: 'rcpt 550 5.1.8 Sender address has no valid domain',
  },
  {
    name: 'status 2.2: mailbox full',
    class: 'mailbox-full',
    statuses: ['2.2'],
    sample: 'rcpt 452 4.2.2 Try again when there is room',
  },
  {
    name: 'status 2.3, 3.4: too large',
    class: 'message-too-large',
    statuses: ['2.3', '3.4'],
    sample: 'final-dot 552 5.3.4 More than we take',
  },
  {
    name: 'status 4.6, 4.14: loop',
    class: 'no-route',
    detail: 'mail_loop',
    statuses: ['4.6', '4.14'],
    sample: 'rcpt 554 5.4.6 This mail was here before',
  },
  {
    name: 'status 5.3: too many recipients',
    class: 'too-many-recipients',
    statuses: ['5.3'],
    tryAgain: true,
    oneRecipient: true,
    sample: 'rcpt 452 4.5.3 Enough for this transaction',
  },
  {
    name: 'status 6.1, 6.6: content',
    class: 'content',
    statuses: ['6.1', '6.6'],
    sample: 'final-dot 554 5.6.1 This media type is not for us',
  },
  {
    name: 'status 7.9, 7.20 to 7.24, 7.26, 7.30 to 7.32: authentication',
    class: 'authentication',
    statuses: ['7.9', '7.20', '7.21', '7.22', '7.23', '7.24', '7.26', '7.30', '7.31', '7.32'],
    sample: 'final-dot 550 5.7.23 The host is not allowed by the policy of the sending domain',
  },
  {
    name: 'status 7.10: TLS required',
    class: 'policy',
    detail: 'tls_required',
    statuses: ['7.10'],
    sample: 'mail 523 5.7.10 Not in the clear',
  },
  {
    name: 'status 7.25: no reverse name',
    class: 'blocked',
    detail: 'no_reverse_dns',
    statuses: ['7.25'],
    sample: 'host 550 5.7.25 Your address has no name',
  },
  {
    name: 'status 7.28: blocked for a mail flood',
    class: 'blocked',
    statuses: ['7.28'],
    words: /\bblock(?:ed|s|ing)?\b/,
    sample: 'mail 421 4.7.28 Your address is blocked for now',
  },
  {
    name: 'status 7.28: mail flood',
    class: 'rate-limited',
    statuses: ['7.28'],
    unless: /listed|reputation/,
    sample: 'final-dot 421 4.7.28 These messages arrive in a flood',
  },
  {
    name: 'status 7.27: sender',
    class: 'sender',
    statuses: ['7.27'],
    sample: 'mail 550 5.7.27 The domain of the sender has a null MX',
  },
]

/** Rules that blame the address and follow all words that excuse it. */
export const ADDRESS_STATUS_RULES: readonly Rule[] = [
  {
    name: 'status 1.1, 1.3: no such recipient',
    class: 'invalid-recipient',
    statuses: ['1.1', '1.3'],
    sample: 'rcpt 550 5.1.1 Not possible',
  },
  {
    name: 'status 1.6, 2.1: mailbox gone',
    class: 'inactive-mailbox',
    statuses: ['1.6', '2.1'],
    sample: 'rcpt 550 5.1.6 Moved to another place',
  },
  {
    name: 'status 1.2, 1.10: no such domain',
    class: 'bad-domain',
    statuses: ['1.2', '1.10'],
    sample: 'rcpt 556 5.1.10 Nobody takes mail there',
  },
]

/** Rules for replies without known words. */
export const LAST_RULES: readonly Rule[] = [
  {
    name: 'status 7: policy',
    class: 'policy',
    codes: ['5'],
    statuses: ['7.'],
    sample: 'rcpt 550 5.7.1 No',
  },
  { name: 'code 552: mailbox full', class: 'mailbox-full', codes: ['552'], sample: 'rcpt 552 No' },
  {
    name: 'code 452: mailbox full',
    class: 'mailbox-full',
    codes: ['452'],
    statuses: ['none'],
    sample: 'rcpt 452 Not now',
  },
  { name: 'no rule', class: 'unknown', sample: 'rcpt 450 Not now' },
]
