/** Rules by phrases that blame the address, in eleven languages. They follow all rules that excuse it. */
import { any, near, type Rule } from './rule.ts'

export const ADDRESS_WORDS: readonly Rule[] = [
  {
    name: 'postfix: address verification failed',
    class: 'invalid-recipient',
    words: /restriction: undeliverable address/,
    sample: 'rcpt 550 Recipient address rejected: undeliverable address: host said: 550 no',
  },
]

/** Words of policy outweigh a status code that blames the address, as no sentence does. */
export const POLICY_WORDS: readonly Rule[] = [
  {
    name: 'words: policy',
    class: 'policy',
    words:
      /relay|rcpthosts|not (?:permitted|allowed|authori[sz]ed)|denied|polic(?:y|ies)|prohibited|administrat|authentication required|restricted|blocked|(?:rejected|refused|declined|bounced) (?:because|due|for|by|as) (?!(?:the |this )?(?:user|recipient|mail ?box|address|account) (?:is|does|was|has|un|in|not))/,
    sample: 'rcpt 550 5.1.1 Not permitted',
  },
]

/**
 * Rules by less specific words, which servers also use for other reasons, mostly with a status code of
 * policy.
 */
export const VAGUE_ADDRESS_WORDS: readonly Rule[] = [
  {
    name: 'words: address rejected',
    class: 'invalid-recipient',
    statuses: ['none', '0.0', '1.', '2.', '3.', '4.', '5.', '6.'],
    words: near('user|recipient|mail ?box|address|account', 'rejected(?= ?(?:$|[.:;,(]))'),
    sample: 'rcpt 550 5.1.0 Address rejected',
  },
  {
    name: 'words: refused',
    class: 'policy',
    words: any(
      /restriction:|not accepted|refused|rejected/,
      /abgelehnt|verweigert|nicht erlaubt|refuse|interdit|rechazad|denegad|rejeitad|recusad|negad|rifiutat|negat|отклонен|запрещен|отказ|odrzucon|odmow|拒否|拒绝|拒絕|不允许/,
    ),
    sample: 'rcpt 550 Mail refused',
  },
]
