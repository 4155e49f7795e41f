/** All rules for replies, in order: the first that matches gives the class. */
import { ADDRESS_WORDS, POLICY_WORDS, VAGUE_ADDRESS_WORDS } from './address-words.ts'
import { EXCUSING_WORDS } from './excusing-words.ts'
import { MESSAGE_WORDS } from './message-words.ts'
import { AMERICAN_RULES } from './providers-america.ts'
import { ASIAN_RULES } from './providers-asia.ts'
import { EUROPEAN_RULES } from './providers-europe.ts'
import type { Rule } from './rule.ts'
import {
  BLAMING_SENTENCES,
  CONTENT_SENTENCES,
  EXCUSING_SENTENCES,
  HOST_RULE,
  SENDER_SENTENCES,
  UNCLEAR_SENTENCES,
} from './sentences.ts'
import { SOFTWARE_RULES } from './software.ts'
import { ADDRESS_STATUS_RULES, LAST_RULES, NEUTRAL_STATUS_RULES } from './status.ts'
import { CONNECTION_RULE, REPORT_EXCUSES, TRANSPORT_WORDS } from './transport-words.ts'

export { PASSING_RULE, UNCLEAR_RULE } from './sentences.ts'
export { GIVEN_UP_RULE } from './transport-words.ts'

/** Rules for known providers and software, and rules that excuse the address by any words. */
const KNOWN_AND_EXCUSING = [
  ...AMERICAN_RULES,
  ...EUROPEAN_RULES,
  ...ASIAN_RULES,
  ...SOFTWARE_RULES,
  ...NEUTRAL_STATUS_RULES,
  ...EXCUSING_WORDS,
]

/**
 * Rules in order: first those for known servers, whose meaning is certain; then those about a temporary
 * condition, one sender, one host or one message; last those that blame the address.
 */
export const RULES: readonly Rule[] = [
  ...KNOWN_AND_EXCUSING,
  ...REPORT_EXCUSES,
  ...SENDER_SENTENCES,
  ...TRANSPORT_WORDS,
  ...MESSAGE_WORDS,
  ...EXCUSING_SENTENCES,
  ...ADDRESS_WORDS,
  ...BLAMING_SENTENCES,
  ...CONTENT_SENTENCES,
  ...POLICY_WORDS,
  ...UNCLEAR_SENTENCES,
  ...ADDRESS_STATUS_RULES,
  ...VAGUE_ADDRESS_WORDS,
  ...LAST_RULES,
]

/** Names of the rules for what became of a connection, or of a host. */
export const CONNECTION_RULES: ReadonlySet<string> = new Set([CONNECTION_RULE, HOST_RULE])

/** Names of the rules that match without specific words. */
export const VAGUE_RULES: ReadonlySet<string> = new Set(
  [...LAST_RULES, ...VAGUE_ADDRESS_WORDS].map(({ name }) => name).concat('protocol error'),
)
