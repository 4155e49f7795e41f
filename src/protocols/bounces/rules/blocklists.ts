/** Finds the blocklist that a reply names. */

/** Operators of blocklists, by the words by which replies name them. */
const BLOCKLISTS: readonly (readonly [words: string, name: string])[] = [
  ['spamhaus', 'Spamhaus'],
  ['spamcop', 'SpamCop'],
  ['barracuda', 'Barracuda'],
  ['uceprotect', 'UCEPROTECT'],
  ['sorbs', 'SORBS'],
  ['abusix', 'Abusix'],
  ['cloudmark', 'Cloudmark'],
  ['proofpoint', 'Proofpoint'],
  ['senderscore', 'Sender Score'],
  ['mailspike', 'Mailspike'],
  ['invaluement', 'invaluement'],
  ['psbl', 'PSBL'],
  ['truncate.gbudb', 'GBUdb'],
  ['nixspam', 'NiX Spam'],
  ['mxrate', 'Trend Micro'],
  ['trendmicro', 'Trend Micro'],
]

/** @param text in lower case */
export function blocklistIn(text: string): string | undefined {
  return BLOCKLISTS.find(([words]) => text.includes(words))?.[1]
}
