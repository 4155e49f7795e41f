/** Suggests the domain that a mistyped recipient domain probably stands for. */

/** Domains of the largest mailbox providers. */
const COMMON = [
  ...['gmail.com', 'googlemail.com', 'outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'yahoo.com'],
  ...['ymail.com', 'icloud.com', 'me.com', 'mac.com', 'aol.com', 'proton.me', 'protonmail.com', 'zoho.com'],
  ...['gmx.com', 'gmx.de', 'gmx.net', 'gmx.at', 'gmx.ch', 'web.de', 't-online.de', 'freenet.de', 'posteo.de'],
  ...['hotmail.fr', 'hotmail.co.uk', 'hotmail.it', 'hotmail.de', 'outlook.de', 'outlook.fr', 'live.co.uk'],
  ...[
    'yahoo.co.uk',
    'yahoo.fr',
    'yahoo.de',
    'yahoo.it',
    'yahoo.es',
    'yahoo.co.jp',
    'yahoo.co.in',
    'yahoo.com.br',
  ],
  ...[
    'orange.fr',
    'wanadoo.fr',
    'free.fr',
    'laposte.net',
    'sfr.fr',
    'libero.it',
    'virgilio.it',
    'btinternet.com',
  ],
  ...['comcast.net', 'verizon.net', 'att.net', 'sbcglobal.net', 'bellsouth.net', 'cox.net', 'charter.net'],
  ...[
    'mail.ru',
    'yandex.ru',
    'qq.com',
    '163.com',
    '126.com',
    'naver.com',
    'uol.com.br',
    'bol.com.br',
    'wp.pl',
  ],
  ...[
    'bluewin.ch',
    'fastmail.com',
    'hey.com',
    'mail.com',
    'rediffmail.com',
    'telenet.be',
    'ziggo.nl',
    'kpnmail.nl',
  ],
]
const KNOWN = new Set(COMMON)

/** @returns undefined if no common domain is similar, or the domain is one itself */
export function suggestedDomain(domain: string): string | undefined {
  if (KNOWN.has(domain)) return undefined
  const name = nameOf(domain)
  const sameName = COMMON.find(common => nameOf(common) === name && name.length >= NAME_CHARACTERS_MIN)
  let best: string | undefined
  let least = domain.length < SHORT_CHARACTERS ? 2 : 3
  for (const common of COMMON) {
    const edits = editsBetween(domain, common)
    if (edits < least) [best, least] = [common, edits]
  }
  return best ?? sameName
}

/** In a name that is shorter, another top-level domain is more likely meant than a mistyped one. */
const NAME_CHARACTERS_MIN = 5
/** Shorter domains are similar only with a single edit. */
const SHORT_CHARACTERS = 8

function nameOf(domain: string): string {
  return domain.slice(0, domain.indexOf('.') >>> 0)
}

/** Number of insertions, deletions, substitutions and exchanges of neighbours between two texts. */
function editsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let former = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      let edits = Math.min(former[j]! + 1, row[j - 1]! + 1, former[j - 1]! + (isSame ? 0 : 1))
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      if (isSwapped) edits = Math.min(edits, before[j - 2]! + 1)
      row.push(edits)
    }
    ;[before, former] = [former, row]
  }
  return former[other.length]!
}
