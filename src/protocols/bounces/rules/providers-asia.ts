/** Rules for what East Asian providers say in their own way. */
import type { Rule } from './rule.ts'

export const ASIAN_RULES: readonly Rule[] = [
  {
    name: 'qq, 163: frequency limited',
    class: 'rate-limited',
    words:
      /(?:domain|ip|connection|mail from|sender) (?:address )?frequency limit|\bmi:(?:dfl|cel|dmc|ndf)\b/,
    tryAgain: true,
    sample: 'rcpt 550 Ip frequency limited',
  },
  {
    name: 'qq: suspected',
    class: 'spam',
    provider: 'qq',
    codes: ['5'],
    words: /suspected (?:bounce|spam)|mail content denied|content is? ?(?:not )?(?:safe|denied)/,
    sample: 'final-dot 550 Mail content denied',
  },
  {
    name: 'qq: mailbox unknown or disabled',
    class: 'invalid-recipient',
    words: /mailbox unavailable or access denied/,
    sample: 'rcpt 550 Mailbox unavailable or access denied',
  },
  {
    name: '163: mailbox unknown or disabled',
    class: 'invalid-recipient',
    provider: 'netease',
    words: /\b(?:mi:nru|rp:nru|user not found).{0,40}/,
    codes: ['550'],
    namesRecipient: true,
    sample: 'rcpt 550 RP:NRU something was wrong',
  },
  {
    name: '163: spam marks',
    class: 'spam',
    words: /\bdt:spm\b|\bmi:spb\b|\bhl:itc\b/,
    sample: 'final-dot 554 DT:SPM 163 smtp8',
  },
  {
    name: '163: address listed',
    class: 'blocked',
    words:
      /\bip is rejected, smtp auth error limit|\bmi:(?:srb|imf|bad)\b|\bip:ufl\b|\bconnection ip is? refused\b/,
    sample: 'host 554 IP:UFL 163 mx1',
  },
  {
    name: 'naver: rate limit',
    class: 'rate-limited',
    provider: 'naver',
    codes: ['4'],
    words: /unusual|too many|exceed|limit/,
    sample: 'mail 421 4.3.2 Your IP address has sent an unusual amount - nsmtp',
  },
  {
    name: 'docomo: user unknown',
    class: 'invalid-recipient',
    provider: 'docomo',
    codes: ['550'],
    phases: ['rcpt', 'final-dot'],
    words: /unknown user|user unknown/,
    namesRecipient: true,
    sample: 'final-dot 550 Unknown user',
  },
  {
    name: 'docomo, au, softbank: volume',
    class: 'rate-limited',
    words:
      /mail server (?:is )?(?:restrict|busy)|temporarily (?:refused|restricted).{0,40}(?:volume|many)|大量送信/,
    sample: 'mail 421 Connection temporarily refused, volume',
  },
]
