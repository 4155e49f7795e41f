/** Extracts the text of a bounce that the reporting system wrote, without the returned message. */
import type { Head } from '../mime/read/head.ts'
import { headOfText, type ReportMail, type ReportPart } from './report-mail.ts'
import { fold } from './text/fold.ts'

export interface OwnText {
  lines: readonly string[]
  /** Header section of the returned mail, as a part or as text after that of the reporting system. */
  returned: Head | undefined
}

const LINES_MAX = 400
const LINE_CHARACTERS_MAX = 1_000
/** Matches a line that announces the returned mail. */
const FOLLOWS =
  /^[\s>*=_~#.-]{0,80}(?:this is a copy of|below this line is|here is a copy|(?:possibly truncated )?(?:the )?(?:original|unsent|returned|undelivered|bounced) (?:message|mail|e-?mail)(?: headers?| header| text| body| follows?)*[\s:.*=_~#-]{0,80}$|(?:included|attached|below) is (?:a copy|the)|(?:the )?headers? of the (?:original|message)|message (?:headers?|body|text)? ?(?:follows|is following)|message headers?[\s:.*=_~-]{0,80}$|returned message header|ursprungliche (?:nachricht|mail)|message (?:d.)?origin|mensaje original|messaggio originale|mensagem original|исходное (?:сообщение|письмо)|元のメッセージ|原(?:始)?邮件|原始郵件)/
const BANNER_LINES_MAX = 6
const BANNER_START =
  /^[^\p{L}\d]{0,20}(?:caution|warning|attention|notice|alert|be careful|external|ext\b|extern|outside|(?:this|an) (?:e-?mail|message|mail) (?:is |was |comes |came |has )?(?:sent |originate[ds]? |been sent )?from|do not click|achtung|vorsicht|warnung|hinweis|diese (?:e-?mail|nachricht)|ce (?:message|mail|courriel)|cet e-?mail|prudence|atencion|precaucion|este (?:correo|mensaje|e-?mail)|attenzione|questa e-?mail|questo messaggio|atencao|cuidado|esta mensagem|let op|waarschuwing|deze e-?mail)/u
const BANNER_WORDS =
  /\bextern|\bext\b|outside|auss?erhalb|außerhalb|exterieur|exterior|estern|do not click|unknown sender|unfamiliar|links? (?:or|and) (?:open )?attachments/
/** Matches what a reporting system says, and no banner. */
const TELLS =
  /\S@\S|\b[45]\d\d[ -]|\b[45]\.\d{1,3}\.\d{1,3}\b|deliver|undeliver|zugestell|recipient|mailbox|unknown user|user unknown/
const HEADER_LINE =
  /^(?:received|return-path|message-id|date|from|to|subject|mime-version|content-type|dkim-signature|x-[\w-]{1,40}|delivered-to|reply-to|x-mailer)[\t ]{0,4}:/i
/** Media types of parts that hold the header section of the returned mail alone. */
const HEADERS_ONLY = new Set(['text/rfc822-headers', 'message/global-headers', 'text/rfc822'])
const TELLING_LINE = /^(?:received|return-path|message-id|mime-version|content-type)[\t ]{0,4}:/i

export function ownTextOf(mail: ReportMail): OwnText {
  const { leaves, heads } = ownParts(mail)
  const plain = leaves.filter(({ type }) => type.value === 'text/plain')
  const texts = (plain.length > 0 ? plain : leaves.filter(({ type }) => type.value === 'text/html')).slice(
    0,
    8,
  )
  const text = texts.map(part => part.text()).join('\n\n')
  const { own, rest } = cut(text)
  const returned = heads[0] ?? (rest === undefined ? undefined : headIn(rest))
  return { lines: withoutBanners(own.filter(line => !/^\s?>(?!>>)/.test(line))), returned }
}

/** Removes the paragraphs by which gateways warn of mail from outside. */
function withoutBanners(lines: readonly string[]): string[] {
  const passage: string[] = []
  let paragraph: string[] = []
  const close = () => {
    const isWhole = paragraph.length <= BANNER_LINES_MAX && isBanner(paragraph.join(' '))
    const from = paragraph.findIndex(line => !isBanner(line))
    if (!isWhole && from >= 0) passage.push(...paragraph.slice(from))
    paragraph = []
  }
  for (const line of lines) {
    if (line.trim() !== '') paragraph.push(line)
    else {
      close()
      passage.push(line)
    }
  }
  close()
  return passage
}

function isBanner(line: string): boolean {
  const text = fold(line)
  return BANNER_START.test(text) && BANNER_WORDS.test(text) && !TELLS.test(text)
}

/** Separates the parts of the mail itself from the header sections of enclosed messages. */
function ownParts({ parts }: ReportMail): { leaves: ReportPart[]; heads: Head[] } {
  const leaves: ReportPart[] = []
  const heads: Head[] = []
  for (const part of parts) {
    const { value } = part.type
    if (value === 'message/rfc822' || value === 'message/global') {
      const enclosed = part.enclosed()
      if (enclosed) heads.push(enclosed.head)
    } else if (HEADERS_ONLY.has(value)) heads.push(headOfText(part.text()))
    else leaves.push(part)
  }
  return { leaves, heads }
}

function cut(text: string): { own: string[]; rest: string | undefined } {
  const lines = text.split('\n')
  for (const [i, line] of lines.entries()) {
    if (i > LINES_MAX) break
    const begins = isHeadAt(lines, i) || (hasWords(lines, i) && FOLLOWS.test(fold(line.slice(0, 160))))
    if (begins) return { own: tidy(lines.slice(0, i)), rest: lines.slice(i).join('\n') }
  }
  return { own: tidy(lines.slice(0, LINES_MAX)), rest: undefined }
}

function hasWords(lines: readonly string[], before: number): boolean {
  return lines.slice(Math.max(0, before - 40), before).some(line => line.trim() !== '')
}

/** Tells whether three header fields follow each other, one of which only software sets. */
function isHeadAt(lines: readonly string[], at: number): boolean {
  if (!HEADER_LINE.test(lines[at]!)) return false
  const run: string[] = []
  for (const line of lines.slice(at, at + 12)) {
    if (/^[\t ]+\S/.test(line)) continue
    if (!HEADER_LINE.test(line)) break
    run.push(line)
  }
  return run.length >= 3 && run.some(line => TELLING_LINE.test(line))
}

function headIn(rest: string): Head | undefined {
  const lines = rest.split('\n').slice(0, 60)
  const at = lines.findIndex((_, i) => isHeadAt(lines, i))
  if (at < 0) return undefined
  const text = rest.split('\n').slice(at).join('\n')
  return headOfText(text)
}

function tidy(lines: readonly string[]): string[] {
  return lines.map(line =>
    line
      .slice(0, LINE_CHARACTERS_MAX)
      .replace(/[\u00a0\u3000]/g, ' ')
      .trimEnd(),
  )
}
