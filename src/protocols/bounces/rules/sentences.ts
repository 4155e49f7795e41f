/**
 * Rules by what the sentences of a reply are about (`sentence/finding.ts`), in whatever words they say it.
 */
import type { Rule } from './rule.ts'

/** Name of the rule for what is said of a host. */
export const HOST_RULE = 'sentence: about a host'
/** Name of the rule for a state that will end. */
export const PASSING_RULE = 'sentence: for a time'

/** Name of the rule for a sentence that is not understood. */
export const UNCLEAR_RULE = 'sentence: not understood'

/** Rules that excuse the address, since its words are about somebody or something else. */
export const SENDER_SENTENCES: readonly Rule[] = [
  {
    name: 'sentence: about the sender',
    class: 'sender',
    finding: 'sender',
    sample: 'rcpt 550 5.1.1 The account that you use for sending is invalid',
  },
]

export const EXCUSING_SENTENCES: readonly Rule[] = [
  {
    name: PASSING_RULE,
    class: 'unknown',
    codes: ['5'],
    finding: 'passing',
    sample: 'rcpt 550 5.2.1 Account locked until Monday',
  },
  {
    name: HOST_RULE,
    class: 'policy',
    finding: 'host',
    sample: 'rcpt 550 5.1.1 The server that holds the mailbox is inactive',
  },
]

/** A field that is invalid excuses the address unless another sentence blames it. */
export const CONTENT_SENTENCES: readonly Rule[] = [
  {
    name: 'sentence: about the message',
    class: 'content',
    finding: 'content',
    sample: 'rcpt 550 Invalid address in the To header',
  },
]

/** Rules that outweigh the status code if words of the reply are not understood. */
export const UNCLEAR_SENTENCES: readonly Rule[] = [
  {
    name: UNCLEAR_RULE,
    class: 'policy',
    codes: ['5'],
    statuses: ['1.1', '1.6', '2.1'],
    finding: 'unclear',
    sample: 'rcpt 550 5.1.1 The recipient is shy of you',
  },
]

/** Rules that blame the address. */
export const BLAMING_SENTENCES: readonly Rule[] = [
  {
    name: 'sentence: mailbox abandoned',
    class: 'inactive-mailbox',
    finding: 'recipient-gone',
    sample: 'rcpt 550 The account of this user was removed in March',
  },
  {
    name: 'sentence: no such mailbox',
    class: 'invalid-recipient',
    finding: 'recipient-absent',
    sample: 'rcpt 550 The addressee could not be located',
  },
  {
    name: 'sentence: domain without mail',
    class: 'bad-domain',
    finding: 'domain-absent',
    sample: 'rcpt 550 Domain there.test unknown here',
  },
]
