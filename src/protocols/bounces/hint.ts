/** Extracts a retry delay that a reply states in words. */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DELAY_MS_MIN = 30 * SECOND_MS
const DELAY_MS_MAX = 4 * HOUR_MS
/** Number of characters of a text that are examined. */
const CHARACTERS_MAX = 512

const AGAIN =
  'try|retry|retries|again|back|wait|resend|resubmit|return|delay|grey-?list|gray-?list|defer|erneut|versuch|warten|r[eé]essa|intent|tent[ea]|riprov|попыт|повтор|prób|spróbuj'
const UNIT =
  'seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|sekunden?|minuten?|stunden?|secondes?|heures?|segundos?|minutos?|horas?|second[io]|minut[io]|or[ae]|секунд\\p{L}{0,2}|минут\\p{L}{0,2}|час\\p{L}{0,2}|sekund\\p{L}?|minut\\p{L}?|godzin\\p{L}?'
const NUMBER = '(?<![\\d.:])(\\d{1,5})'
const END = '(?![\\p{L}\\d])'

/** Matches the words before a period, the period and its unit. */
const SPANS = [
  new RegExp(`(?:${AGAIN})[^\\d]{0,40}?${NUMBER} ?(${UNIT})${END}`, 'iu'),
  new RegExp(`(?:через|za|dans|dentro de|tra|fra) ${NUMBER} ?(${UNIT})${END}`, 'iu'),
  new RegExp(`in ${NUMBER} ?(${UNIT})${END} (?:again|erneut|wieder|nochmals?)`, 'iu'),
  /(\d{1,5}) ?(秒|分钟|分鐘|分|小时|小時|時間)(?:間)?(?:以上)?(?:後|后|以後|以后|之后)/u,
]
const CLOCK = new RegExp(`(?:${AGAIN})[^\\d]{0,40}?(?<!\\d)(\\d{1,2}):(\\d\\d):(\\d\\d)(?![\\d:])`, 'iu')
const BARE_SECONDS = /retry-?_?after[ :=]{1,3}(\d{1,5})(?![\d.:])/i
/** Matches a rate such as `100 messages in 60 minutes`, which is not a delay. */
const COUNTED =
  /(?:messages?|mails?|e-?mails?|connections?|last|past|per|within|every) (?:in |of |the ){0,2}$/i

/** @returns the delay in ms, between 30 s and 4 h; undefined if the text names none */
export function retryHintMs(reply: string): number | undefined {
  const text = reply.slice(0, CHARACTERS_MAX)
  const found = clockMs(text) ?? spanMs(text) ?? secondsMs(text)
  return found === undefined ? undefined : Math.min(DELAY_MS_MAX, Math.max(DELAY_MS_MIN, found))
}

function clockMs(text: string): number | undefined {
  const found = CLOCK.exec(text)
  return found
    ? Number(found[1]) * HOUR_MS + Number(found[2]) * MINUTE_MS + Number(found[3]) * SECOND_MS
    : undefined
}

function spanMs(text: string): number | undefined {
  for (const span of SPANS) {
    const found = span.exec(text)
    if (!found) continue
    const before = found[0].slice(0, found[0].indexOf(found[1]!))
    if (!COUNTED.test(before)) return Number(found[1]) * unitMs(found[2]!.toLowerCase())
  }
  return undefined
}

function secondsMs(text: string): number | undefined {
  const found = BARE_SECONDS.exec(text)
  return found ? Number(found[1]) * SECOND_MS : undefined
}

function unitMs(unit: string): number {
  if (/^(?:s|с|秒)/.test(unit) && !/^st/.test(unit)) return SECOND_MS
  return /^(?:m|м|分)/.test(unit) ? MINUTE_MS : HOUR_MS
}
