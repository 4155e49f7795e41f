/** Suggests the domain that a mistyped recipient domain probably stands for. */
import { editDistance } from '../../../lib/edit-distance.ts'

/** Domains of the largest mailbox providers. */
const COMMON = `
  gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com ymail.com icloud.com
  me.com mac.com aol.com proton.me protonmail.com zoho.com gmx.com gmx.de gmx.net gmx.at gmx.ch web.de
  t-online.de freenet.de posteo.de hotmail.fr hotmail.co.uk hotmail.it hotmail.de outlook.de
  outlook.fr live.co.uk yahoo.co.uk yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.co.jp yahoo.co.in
  yahoo.com.br orange.fr wanadoo.fr free.fr laposte.net sfr.fr libero.it virgilio.it btinternet.com
  comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net mail.ru yandex.ru
  qq.com 163.com 126.com naver.com uol.com.br bol.com.br wp.pl bluewin.ch fastmail.com hey.com
  mail.com rediffmail.com telenet.be ziggo.nl kpnmail.nl
`
  .trim()
  .split(/\s+/)
const KNOWN = new Set(COMMON)

/** @returns undefined if no common domain is similar, or the domain is one itself */
export function suggestedDomain(domain: string): string | undefined {
  if (KNOWN.has(domain)) return undefined
  const name = nameOf(domain)
  const sameName = COMMON.find(common => nameOf(common) === name && name.length >= NAME_CHARACTERS_MIN)
  let best: string | undefined
  let least = domain.length < SHORT_CHARACTERS ? 2 : EDITS_MAX + 1
  for (const common of COMMON) {
    const edits = editDistance(domain, common, { max: EDITS_MAX, swaps: true })
    if (edits < least) [best, least] = [common, edits]
  }
  return best ?? sameName
}

/** In a name that is shorter, another top-level domain is more likely meant than a mistyped one. */
const NAME_CHARACTERS_MIN = 5
/** Number of edits within which a domain is similar. */
const EDITS_MAX = 2
/** Shorter domains are similar only with a single edit. */
const SHORT_CHARACTERS = 8

function nameOf(domain: string): string {
  return domain.slice(0, domain.indexOf('.') >>> 0)
}
