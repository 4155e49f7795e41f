/**
 * Extracts failed recipients and their diagnostics from the text of a bounce, by the position of addresses.
 */
import { domainOf } from '../smtp/address.ts'
import { BOUNCE_PHRASE } from './phrases.ts'
import { addressesIn, isSameAddress } from './text/addresses.ts'
import { fold } from './text/fold.ts'

interface Blamed {
  address: string
  /** Sentence or reply about the address, followed by more of the surrounding text; best first. */
  texts: readonly string[]
}

interface Candidate {
  address: string
  score: number
  line: number
  /** Whether a text about the address follows it in its line. */
  isListed: boolean
}

interface Surroundings {
  lines: readonly string[]
  /** Addresses that header fields of the bounce name. */
  failed: readonly string[]
  /**
   * Addresses of the parties of the bounce and of the sender of the returned mail, which are never the
   * failed recipient.
   */
  own: readonly string[]
  /** Recipients of the returned mail. */
  addressed: readonly string[]
}

const RECIPIENTS_MAX = 50
const SCORE_MIN = 4
/** Matches an address on a line of its own, possibly behind marks. */
const ALONE =
  /^[\s>*•"'<([=:-]{0,20}[^\s<>"'()]{1,80}@[^\s<>"')]{1,255}[\s>"')\]]{0,4}[:;,.]?\s*(?:\(.{0,200})?$/
const AT_START =
  /^[\s>*•"'<([-]{0,20}[^\s<>"'()]{1,80}@[^\s<>"')]{1,255}[>"')\]]{0,3}\s{0,3}(?::|,|;|\.{3}|-|\()/
const NAMED_HERE =
  /rcpt to|recipients?(?: address)?\s?[:：]|(?:failed )?recipient|addressed to|deliver(?:ed|y|ing)?(?: your| the)?(?: message| mail)? to|(?:mail|message|e-?mail|nachricht|messaggio|mensaje|message) (?:a|an|to|for|au?x?)\b|\b(?:to|an|para|a|aan|do|komu|dla|кому)\s?:|user(?:name)?[:\s]|user mailbox|宛先|宛て先|送信先|收件人|收信人|адрес|l.adresse|addresses?\b.{0,40}:/
const CONTACT =
  /contact|assistance|\bhelp|problem|reply to|write to|send (?:e-?)?mail to|administrator|feel this|question|mailto:|sender|\bfrom\s?:|\bvon\s?:|\bde\s?:|absender|support|unsubscribe|generated from|expanded from|on behalf|mail from|message-id|\bid\b|差出人|发件人|contacter|kontakt/
const SERVICE = /^(?:postmaster|mailer-daemon|abuse|noreply|no-reply|helpdesk|support|webmaster|hostmaster)@/i
const REPLY_LINE = /(?:^|[\s:;'"<([>])[45]\d\d(?=[\s:;,-])|#?[45]\.\d{1,3}\.\d{1,3}\b/
const SAID =
  /<<<|said:|reason|error|because|diagnos|grund|motif|motivo|原因|理由|причина|response|answer|failed with/
const HOST = /(?<![\w.@-])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/g
/** Matches a line of qmail or Exim above a reply that names another command than RCPT TO. */
const OTHER_COMMAND =
  /but (?:my name was rejected|greeting failed|sender was rejected)|failed after I sent the message|error [^:]{0,60}after (?:pipelined )?(?:HELO|EHLO|LHLO|STARTTLS|initial connection|MAIL FROM|DATA|sending|end of data)/i
const TEXT_CHARACTERS_MAX = 900

export function blamedIn(surroundings: Surroundings): Blamed[] {
  const { lines, failed, addressed } = surroundings
  const candidates = bestOf(surroundings)
  const best = candidates[0]?.score ?? 0
  const chosen = candidates
    .filter(({ score, isListed }) => {
      const isAlike = score >= best - 4 || (isListed && candidates[0]!.isListed)
      return score >= SCORE_MIN && isAlike
    })
    .slice(0, RECIPIENTS_MAX)
  const isOnlyOne = candidates.length === 1 && best === 0
  if (chosen.length === 0 && candidates[0] && (best > 0 || isOnlyOne)) chosen.push(candidates[0])
  const recipients = withoutForwarded(
    chosen.map(({ address }) => address),
    surroundings,
  )
  const others =
    recipients.length > 0 ? [] : failed.length > 0 ? failed : addressed.length === 1 ? addressed : []
  const found = [...recipients, ...others]
  const textsOf = textsAbout(lines, found)
  return found.map(address => ({ address, texts: textsOf(address) }))
}

/**
 * Leaves out addresses to which a recipient forwards its mail: they stand only in replies, or beside the
 * recipient who stands above them and has no reply of its own. Their reply is the reason for that recipient.
 */
function withoutForwarded(found: readonly string[], { lines, failed, addressed }: Surroundings): string[] {
  if (found.length < 2) return [...found]
  const folded = lines.map(line => line.toLowerCase())
  const places = new Map(
    found.map(address => {
      const wanted = address.toLowerCase()
      const named = folded.flatMap((line, i) => (line.includes(wanted) ? [i] : []))
      const inReply = named.filter(i => REPLY_LINE.test(lines[i]!.slice(0, folded[i]!.indexOf(wanted))))
      return [address, { named, inReply, hasReply: named.some(i => REPLY_LINE.test(lines[i]!)) }]
    }),
  )
  return found.filter(address => {
    const { named, inReply } = places.get(address)!
    if (inReply.length === 0 || [...failed, ...addressed].some(one => isSameAddress(one, address)))
      return true
    const above = found.find(other => {
      const { named: theirs, hasReply } = places.get(other)!
      return other !== address && !hasReply && theirs.length > 0 && theirs[0]! < named.at(-1)!
    })
    const beside = above === undefined ? [] : places.get(above)!.named
    return above === undefined || !named.every(i => inReply.includes(i) || beside.includes(i))
  })
}

/**
 * Returns a function for the texts about one of the recipients, best first. Where several are named, the
 * lines about others are left out.
 * @param all addresses; undefined for a recipient who is not named
 */
export function textsAbout(
  lines: readonly string[],
  all: readonly (string | undefined)[],
): (address: string | undefined) => string[] {
  const known = new Set(all.flatMap(address => address?.toLowerCase() ?? []))
  if (known.size < 2) return address => textsFrom(lines, Math.max(0, placeOf(lines, address)))
  const pieces = lines.flatMap(line => piecesOf(line, known))
  const concerned = concernedBy(pieces, known)
  return address => {
    const folded = address?.toLowerCase() ?? ''
    const own = pieces.filter((_, i) => concerned[i]?.has(folded) ?? true)
    const at = placeOf(own, address)
    return at < 0 ? [] : textsFrom(own, at)
  }
}

/** Cuts a line between two recipients if each has a text of its own. */
function piecesOf(line: string, known: ReadonlySet<string>): string[] {
  const folded = line.toLowerCase()
  const pieces: string[] = []
  let from = 0
  let end = 0
  let last: string | undefined
  for (const address of addressesIn(folded)) {
    if (!known.has(address)) continue
    const at = folded.indexOf(address, end)
    if (at < 0) break
    const between = folded.slice(end, at).replace(/\b(?:and|or|und|oder|et|y|e|en)\b/g, '')
    if (last !== undefined && last !== address && /[\p{L}\d]/u.test(between)) {
      const cut = at - (/[<"'(]*$/.exec(line.slice(end, at))?.[0].length ?? 0)
      pieces.push(line.slice(from, cut))
      from = cut
    }
    last = address
    end = at + address.length
  }
  return [...pieces, line.slice(from)]
}

/**
 * Returns the recipients that each line is about: those it names, those that stand below it if it is a
 * heading, those in a domain that it names, or else those of the line above; undefined before any is named.
 */
function concernedBy(
  lines: readonly string[],
  known: ReadonlySet<string>,
): (ReadonlySet<string> | undefined)[] {
  const byDomain = Map.groupBy(known, domainOf)
  const namedIn = lines.map(line => addressesIn(line.toLowerCase()).filter(address => known.has(address)))
  let current: ReadonlySet<string> | undefined
  return lines.map((line, i) => {
    const folded = line.toLowerCase()
    const named = namedIn[i]!.length > 0 || !/:\s*$/.test(line) ? namedIn[i]! : listBelow(lines, namedIn, i)
    const inDomain = [...folded.matchAll(HOST)].flatMap(
      ([host]) => byDomain.get(domainIn(host, byDomain)) ?? [],
    )
    if (named.length > 0) current = new Set(named)
    else if (inDomain.length > 0 && !inDomain.some(address => current?.has(address)))
      current = new Set(inDomain)
    return current
  })
}

/** Returns the recipients that are listed directly below a heading. */
function listBelow(lines: readonly string[], namedIn: readonly string[][], heading: number): string[] {
  let at = heading + 1
  while (at < lines.length && lines[at]!.trim() === '') at++
  const listed: string[] = []
  for (; at < lines.length && namedIn[at]!.length > 0; at++) listed.push(...namedIn[at]!)
  return listed
}

/** Returns the longest suffix of a host name that is a key. */
function domainIn(host: string, domains: ReadonlyMap<string, unknown>): string {
  let name = host
  while (!domains.has(name) && name.includes('.')) name = name.slice(name.indexOf('.') + 1)
  return name
}

function placeOf(lines: readonly string[], address: string | undefined): number {
  if (address === undefined) return -1
  const folded = address.toLowerCase()
  return lines.findIndex(line => line.toLowerCase().includes(folded))
}

function textsFrom(lines: readonly string[], from: number): string[] {
  const after = lines.slice(from, from + 14)
  const paragraph = untilEmpty(after)
  const around = lines.slice(Math.max(0, from - 4), from + 14)
  const texts = [
    replyIn(after),
    replyIn(paragraph),
    replyIn(lines),
    paragraph.join(' '),
    around.filter(isTelling).join(' '),
    lines.filter(isTelling).join(' '),
    lines.join(' '),
  ]
  return [...new Set(texts.filter(text => text !== undefined && saysMore(text)))].map(text =>
    text!
      .replace(/\s{2,}/g, ' ')
      .trim()
      .slice(0, TEXT_CHARACTERS_MAX),
  )
}

/** Tells whether a text says more than an address. */
function saysMore(text: string): boolean {
  return /[\p{L}\d]{2}/u.test(text.replace(/\S{1,100}@\S{1,255}/g, ''))
}

/** Lists each address once, best first. */
function bestOf({ lines, failed, own, addressed }: Surroundings): Candidate[] {
  const found = new Map<string, Candidate>()
  let before = ''
  for (const [line, text] of lines.entries()) {
    if (text.trim() === '') continue
    if (text.includes('@')) {
      const folded = fold(text)
      for (const address of addressesIn(text)) {
        if (own.some(one => isSameAddress(one, address))) continue
        const score =
          scoreOf(address, text, folded, before) + among(failed, address, 6) + among(addressed, address, 3)
        const key = address.toLowerCase()
        if ((found.get(key)?.score ?? Number.NEGATIVE_INFINITY) < score)
          found.set(key, { address, score, line, isListed: AT_START.test(text) })
      }
    }
    before = fold(text)
  }
  return [...found.values()].sort((one, other) => other.score - one.score || one.line - other.line)
}

function among(list: readonly string[], address: string, score: number): number {
  return list.some(one => isSameAddress(one, address)) ? score : 0
}

function scoreOf(address: string, text: string, folded: string, before: string): number {
  let score = 0
  if (ALONE.test(text)) score += 4
  else if (AT_START.test(text)) score += 4
  if (NAMED_HERE.test(folded)) score += 3
  if (BOUNCE_PHRASE.test(folded)) score += 3
  if (BOUNCE_PHRASE.test(before) || NAMED_HERE.test(before)) score += 2
  if (REPLY_LINE.test(text)) score += 2
  if (CONTACT.test(folded.replace(address.toLowerCase(), ''))) score -= 5
  if (SERVICE.test(address)) score -= 4
  return score
}

/** Returns a reply with its continuation in the lines below. */
function replyIn(lines: readonly string[]): string | undefined {
  const at = lines.findIndex(line => REPLY_LINE.test(line))
  if (at < 0) return undefined
  // `<<<` and `said:` introduce the words of the other side; the first line with a code may be a summary by
  // the reporting system.
  const quoted = lines.findIndex(line => /<<<\s?[45]\d\d|said:.{0,40}[45]\d\d/.test(line))
  const reply = quoted < 0 ? at : quoted
  // The line above a quoted reply names the command that it answers, as qmail writes it.
  const from = reply > 0 && OTHER_COMMAND.test(lines[reply - 1]!) ? reply - 1 : reply
  return untilEmpty(lines.slice(from, from + 6)).join(' ')
}

function untilEmpty(lines: readonly string[]): string[] {
  const empty = lines.findIndex((line, i) => i > 0 && line.trim() === '')
  return empty < 0 ? [...lines] : lines.slice(0, empty)
}

function isTelling(line: string): boolean {
  const folded = fold(line)
  return SAID.test(folded) || BOUNCE_PHRASE.test(folded) || REPLY_LINE.test(line)
}
