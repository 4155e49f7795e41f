/** Recognizes and reads bounces in free text, without a machine-readable part. */
import { domainOf } from '../smtp/address.ts'
import { blamedIn, textsAbout } from './blamed.ts'
import type { OwnText } from './passage.ts'
import {
  BOUNCE_PHRASE,
  BOUNCE_SUBJECT,
  DELAY_PHRASE,
  DELIVERY_SENTENCE,
  GIVEN_UP,
  GOODS,
  STILL_TRIED,
} from './phrases.ts'
import type { ReportedRecipient } from './report.ts'
import { oursOf, type Signs } from './sender.ts'
import { addressesIn } from './text/addresses.ts'
import { fold } from './text/fold.ts'
import { verdictOf } from './verdict.ts'

const REPLY_LINE = /(?:^|[\s:;'"<([>])[45]\d\d[\s:;,-]|#?[45]\.\d\.\d{1,3}\b/
const POINTS_MIN = 5
const CHARACTERS_MAX = 8_000

/**
 * Scores the evidence for a bounce: its sender, header section, subject, sentences and returned message.
 */
export function isBounceText(signs: Signs, { lines, returned }: OwnText): boolean {
  const text = fold(lines.join('\n').slice(0, CHARACTERS_MAX))
  const subject = BOUNCE_SUBJECT.test(signs.subject)
  const phrase = BOUNCE_PHRASE.test(text)
  const bySystem = signs.isDaemon || signs.hasNullSender || signs.failed.length > 0
  const points =
    (signs.isDaemon ? 2 : 0) +
    (signs.hasNullSender ? 1 : 0) +
    (bySystem && saysOfAddress(signs, lines, text) ? 4 : 0) +
    (signs.failed.length > 0 ? 3 : 0) +
    (subject ? 2 : 0) +
    (phrase ? 2 : 0) +
    (lines.some(line => REPLY_LINE.test(line)) ? 1 : 0) +
    (returned ? 1 : 0) -
    (signs.isReply && !signs.isDaemon ? 4 : 0) -
    (signs.isBulk && !signs.isDaemon ? 4 : 0)
  return bySystem ? points >= POINTS_MIN : subject && phrase && returned !== undefined && points >= POINTS_MIN
}

/** Tells whether a sentence says that mail was not delivered, and an address of another party stands near. */
function saysOfAddress({ own, failed }: Signs, lines: readonly string[], text: string): boolean {
  if (GOODS.test(text) || !DELIVERY_SENTENCE.test(text.replace(/\S{1,100}@\S{1,255}/g, '@'))) return false
  return failed.length > 0 || lines.some(line => addressesIn(line).some(address => !own.includes(address)))
}

export function readBounceText(signs: Signs, own: OwnText, provider: (host: string) => string | undefined) {
  const { lines, returned } = own
  const all = fold(`${signs.subject}\n${lines.join('\n').slice(0, CHARACTERS_MAX)}`)
  const action =
    STILL_TRIED.test(all) || (DELAY_PHRASE.test(all) && !GIVEN_UP.test(all))
      ? ('delayed' as const)
      : ('failed' as const)
  const addressed = addressesIn(returned?.text('to') ?? '')
  const sender = addressesIn(`${returned?.text('from') ?? ''} ${returned?.text('return-path') ?? ''}`)
  const blamed = blamedIn({ lines, failed: signs.failed, own: [...signs.own, ...sender], addressed })
  const ours = oursOf(signs, returned)
  const found = blamed.length > 0 ? blamed : [{ address: undefined, texts: textsAbout(lines, [])(undefined) }]
  return found.map(({ address, texts }): ReportedRecipient => {
    const remoteMta = texts.map(hostIn).find(host => host !== undefined)
    const verdict = verdictOf({
      action,
      status: undefined,
      // The subject is about all recipients, or about one of them.
      texts: found.length > 1 ? texts : [...texts, signs.subject],
      provider: remoteMta === undefined ? providerOfAddress(address, provider) : provider(remoteMta),
      facts: { recipient: address, ours },
    })
    return {
      recipient: address,
      originalRecipient: undefined,
      action,
      remoteMta,
      ...verdict,
    }
  })
}

/** Returns the host that the reporting system says it talked to. */
export function hostIn(text: string): string | undefined {
  const found = /(?:talking to|\bhost:?|server|\(domain) ([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8})/i.exec(
    text,
  )
  return found?.[1]?.toLowerCase()
}

function providerOfAddress(address: string | undefined, provider: (host: string) => string | undefined) {
  return address === undefined ? undefined : provider(domainOf(address))
}
