/** Derives the text part of a message from its HTML, such that filters find the words of both parts alike. */
import { textOfPage } from './html-to-text.ts'

/** A text with at most this many words is kept as it is. */
const WORDS_KEPT_MAX = 4

/**
 * URLs and the texts of pictures are left out of a page that is made of little else: filters compare the
 * words of both parts, and do not see these on the page (SpamAssassin: MPART_ALT_DIFF_COUNT). Other pages are
 * read once.
 * @returns undefined for a page that is sent without a text part
 */
export function textPartOf(html: string): string | undefined {
  const whole = textOfPage(html, true)
  if (!whole?.mayBeMostlyExtras) return whole?.text
  const seen = textOfPage(html, false)?.text
  const isTooMuch = wordCount(whole.text) > Math.max(WORDS_KEPT_MAX, 2 * wordCount(seen ?? ''))
  return isTooMuch ? seen : whole.text
}

/** Number of different words. */
function wordCount(text: string): number {
  return new Set(text.match(/\S+/g)).size
}
