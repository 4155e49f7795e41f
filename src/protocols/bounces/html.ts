/** Converts HTML to text for the rules: tags are removed; lines and addresses in angle brackets are kept. */

const LINE_TAGS = new Set([
  'br',
  'p',
  'div',
  'tr',
  'li',
  'table',
  'h1',
  'h2',
  'h3',
  'h4',
  'pre',
  'hr',
  'ul',
  'td',
])
/** Elements whose content is not text. */
const HIDDEN_TAGS = new Set(['style', 'script', 'head', 'title'])
const TAG_CHARACTERS_MAX = 4_000
const NAMED: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['auml', 'ä'],
  ['ouml', 'ö'],
  ['uuml', 'ü'],
  ['szlig', 'ß'],
  ['eacute', 'é'],
  ['egrave', 'è'],
  ['agrave', 'à'],
  ['rsquo', "'"],
])
const ADDRESS = /^[^\s@<>]{1,64}@[^\s<>]{1,255}$/
const ENTITY = /&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});/g

export function textOfHtml(html: string): string {
  const lower = html.toLowerCase()
  let text = ''
  let at = 0
  let closes = -1
  const endless = new Set<string>()
  while (at < html.length) {
    const opens = html.indexOf('<', at)
    if (opens < 0) break
    text += html.slice(at, opens)
    // The closing bracket is looked for once, however many opening brackets precede it.
    if (closes < opens) closes = html.indexOf('>', opens)
    if (closes < 0 || closes - opens > TAG_CHARACTERS_MAX) {
      text += '<'
      at = opens + 1
      if (closes < 0) break
      continue
    }
    const inner = html.slice(opens + 1, closes)
    const name = /^\/?([a-zA-Z][a-zA-Z0-9]{0,10})(?![^\s/>])/.exec(inner)?.[1]?.toLowerCase()
    if (name === undefined) text += ADDRESS.test(inner) ? `<${inner}>` : ' '
    else if (LINE_TAGS.has(name)) text += '\n'
    const hides = name !== undefined && HIDDEN_TAGS.has(name) && !inner.startsWith('/') && !endless.has(name)
    const ends = hides ? lower.indexOf(`</${name}`, closes) : -1
    if (hides && ends < 0) endless.add(name)
    at = ends < 0 ? closes + 1 : ends
  }
  return withoutEntities(text + html.slice(at)).replace(/[ \t\u00a0]+/g, ' ')
}

function withoutEntities(text: string): string {
  return text.replace(ENTITY, (whole, name: string) => {
    if (!name.startsWith('#')) return NAMED.get(name.toLowerCase()) ?? whole
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
