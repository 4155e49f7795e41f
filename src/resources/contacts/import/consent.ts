/**
 * Reads columns in which other programs export whether a contact wants mail, so that an import never makes
 * subscribers of people who have left.
 */
import {
  CHOICE_NAMES,
  FALSE_WORDS,
  LEAVING_WORDS,
  LEFT_WORDS,
  NEGATIONS,
  NONE_WORDS,
  NOTHING_WORDS,
  OTHER_LEAVING_WORDS,
  STATUS_NAMES,
  STAYING_NAMES,
  STAYS_WORDS,
  TAG_NAMES,
  TRUE_WORDS,
  VAGUE_WORDS,
  withoutAccents,
} from './consent-words.ts'
import { isLeavingPhrase } from './contact-words.ts'

/**
 * What the cells of a column say: `left` if a true value means that the contact has left, `stays` if it means
 * the opposite, `leftWhenFilled` for times and reasons of leaving. In other columns, only some values say it:
 * a `state` may be one of an address, a `choice` may be one of several newsletters, `tags` are a list, and a
 * `word` may be among notes. Values of an `answered` column mean only what the client says.
 */
export type ConsentMeaning =
  | 'left'
  | 'stays'
  | 'leftWhenFilled'
  | 'state'
  | 'choice'
  | 'tags'
  | 'word'
  | 'answered'

const words = (text: string) => text.split(' ')
const MEANINGS: ReadonlyMap<string, ConsentMeaning> = new Map<string, ConsentMeaning>([
  ...[...LEAVING_WORDS].map(name => [name, 'left'] as const),
  ...words(
    'isunsubscribed hasoptedout isoptedout emailoptedout hsemailoptout isblacklisted emailblacklisted ' +
      'isthissubscriberblacklisted isblocklisted emaildisabled deactivated deleted archived',
  ).map(name => [name, 'left'] as const),
  ...[...STATUS_NAMES, ...STAYING_NAMES].map(name => [name, 'stays'] as const),
  ...words('emailsuppressions stoptime abmeldedatum').map(name => [name, 'leftWhenFilled'] as const),
  ...words('state estado situacao type subscribertype').map(name => [name, 'state'] as const),
  ...[...CHOICE_NAMES].map(name => [name, 'choice'] as const),
  ...[...TAG_NAMES].map(name => [name, 'tags'] as const),
])
/** Names that begin or end with words of one meaning, such as `Opted out of email: Offers`. */
const PATTERNS: readonly [RegExp, ConsentMeaning][] = [
  [
    /^(?:has)?(?:opted|opt)outof(?!fax|sms|phone|call|whatsapp|push)|^(?:is)?(?:unsubscribed|excluded)from|^donot(?:e?mail|contact|send)/,
    'left',
  ],
  [
    /^(?:email|confirmed)?(?:unsub(?:scri(?:be|bed|ption))?|opt(?:ed)?out|cleaned|clean|bounced?|complain(?:t|ed)|(?:black|block)listed|suppress(?:ed|ion)|archived|deleted|removed|deactivated)(?:at|on|date|time|timestamp|datetime|reason|reasonother|source|campaign(?:id|title)?)$/,
    'leftWhenFilled',
  ],
  [
    /^(?!mailingstate$).*(?:subscri(?:ber|ption)|e?mails?|newsletter|mailing|marketing|optin|doi|consent|permission|anmelde?|anmeldungs?|abo|abonnements?|verteiler|einwilligungs?|zustimmungs?|inschrijv(?:ing)?s?|aanmeld)(?:status|state|statuscode|statut|stato|estado)$/,
    'stays',
  ],
  [
    /^(?:status|statut|stato|estado)(?:de|del|della|des|da|do|der|of|the)*(?:abonnement|inscription|suscripcion|iscrizione|inscricao|assinatura|anmeldung|subscription|newsletter|e?mail|correo|correio|courriel|consent|consentement|consentimiento|consenso|consentimento|optin)$/,
    'stays',
  ],
]
/** Words beside the one that tells the meaning, such as `Newsletter` in `Newsletter abgemeldet`. */
const TOPIC =
  'newsletters?|mailings?|mailinglist|e?mails?|marketing|werbung|werbe|verteiler|infolettre|boletin|nieuwsbrief|' +
  'contact|kontakt|contatto|contacto|subscriber|member|liste?|gdpr|dsgvo|rgpd|メルマガ|メール|邮件|郵件|рассылка'
const BEFORE_WORD = new RegExp(`^(?:${TOPIC}|is|has|hat|ist|est|vom|der|de|la|du)+`)
const AFTER_WORD = new RegExp(
  `(?:(?:from|for|of|vom|von|fur|de|du|dela|des|del|dalla|da|van|voor|od|от)?(?:${TOPIC}))+$`,
)
const TIME_BEFORE_WORD =
  /^(?:date|datum|fecha|data|дата|time|reason|grund|motif|raison|motivo|reden|powod|причина)(?:of|der|des|de|du|dela|di|da|do|van)?/
const TIME_AFTER_WORD =
  /(?:date|datum|data|time|timestamp|reason|grund|zeit|zeitpunkt|at|on|am|um|seit|le|il|el|em|op|日|日時|日付|理由|时间|日期|原因|時間)$/
/** Parts of names that speak of nothing but leaving. */
const SPEAKS_OF_LEAVING =
  /unsubscri|optout|optedout|abgemeldet|abmeld|abbestell|austrag|ausgetragen|werbewiderspr|desinscri|desabonn|desuscri|dadodebaja|disiscri|descadastr|uitgeschreven|uitschrijv|afgemeld|wypisan|отпис|הסרה|הוסר|ביטולמנוי|الغاءالاشتراك|配信停止|購読解除|退会|退订|取消订阅|退訂|取消訂閱/
/** Columns with links and keys of an unsubscribe page do not say who has left. */
const NO_CONSENT = /fax|sms|whatsapp|phone|url|link|token|hash|href|lien|enlace|page|seite/

const DATE = /^(?:\d{4}[-/.年]?\d{1,2}[-/.月]?\d{1,2}|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})/
const MONTH =
  '(?:jan|feb|fev|mar|apr|avr|abr|ma[iyj]|jun|jui|giu|jul|lug|aug|aou|ago|sep|set|o[ck]t|out|ott|nov|de[csz]|dic|ene|gen|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)\\p{L}*'
/** A date with the name of its month, such as `1. Mai 2024`. */
const NAMED_DATE = new RegExp(
  `^(?:\\d{1,2}(?:\\.|st|nd|rd|th)?(?:de)?${MONTH}|${MONTH}\\.?\\d{1,2}(?:st|nd|rd|th)?)[.,]?(?:de)?\\d{2,4}(?:\\D.*)?$`,
  'u',
)
/** A date, possibly with a time, or a Unix time in seconds or ms. */
const WHOLE_DATE =
  /^(?:\d{4}[/.年]?\d{1,2}[/.月]?\d{1,2}日?|\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2})|\d{1,2}\.\d{1,2}\.)(?:t?\d{1,2}:\d.*)?$|^1\d{9}(?:\d{3})?$/
/** Status codes of programs are such numbers, or letters. */
const CODE = /^(?:-?\d{1,9}|\p{Lu}|[a-z])$/u
/** A date that says there is none: zeros, or the last or first day of databases, Unix and spreadsheets. */
const NO_DATE =
  /^(?:0[0:./]*|-?00011130|(?:0001|1900|1970)[/.]?01[/.]?01|0?1[/.]0?1[/.](?:0001|1900|1970)|18991230|99991231|31[/.]12[/.]9999)(?:t?\d{1,2}:[\d:.]+)?z?(?:\+[\d:]+)?$/
/** The status of a reply that refuses mail, RFC 3463, possibly behind its three digits. */
const SMTP_STATUS = /^(?:[45]\d\d)?5\.\d{1,3}\.\d{1,3}/
const NO_DATE_CHARACTERS_MIN = 6
const TAG_SEPARATOR = /[,;|、，]|:::/

/** @param name name of a column as `plainName` makes it */
export function consentMeaning(name: string): ConsentMeaning | undefined {
  const known = MEANINGS.get(name) ?? PATTERNS.find(([pattern]) => pattern.test(name))?.[1]
  if (known || NO_CONSENT.test(name)) return known
  for (const word of [
    name.replace(BEFORE_WORD, ''),
    name.replace(AFTER_WORD, ''),
    name.replace(BEFORE_WORD, '').replace(AFTER_WORD, ''),
  ]) {
    const meaning = MEANINGS.get(word)
    if (meaning) return meaning
    const isTime = [TIME_BEFORE_WORD, TIME_AFTER_WORD].some(
      time => time.test(word) && LEAVING_WORDS.has(word.replace(time, '')),
    )
    if (isTime) return 'leftWhenFilled'
  }
  return SPEAKS_OF_LEAVING.test(name) ? 'left' : undefined
}

/** Name of a column without case, accents, blanks and punctuation. */
export function plainName(name: string): string {
  return withoutAccents(name).replace(/[\p{P}\s]/gu, '')
}

/** Whether cells that do not say whether the contact has left are allowed. */
export function mayBeSilent(meaning: ConsentMeaning): boolean {
  return meaning === 'state' || meaning === 'choice' || meaning === 'tags' || meaning === 'word'
}

/** Whether the cell says that the contact has left; undefined if it cannot be told. */
export function hasLeft(meaning: ConsentMeaning, cell: string): boolean | undefined {
  if (meaning === 'tags')
    return cell.split(TAG_SEPARATOR).some(tag => LEAVING_WORDS.has(plainValue(tag))) || undefined
  const word = plainValue(cell)
  if (meaning === 'word') return isOfMailOnly(word) || undefined
  if (meaning === 'answered') return undefined
  const isFalse = FALSE_WORDS.has(word) || NO_DATE.test(word)
  if (meaning === 'leftWhenFilled') return !isFalse && !NOTHING_WORDS.has(word)
  if (LEAVING_WORDS.has(word) || LEFT_WORDS.has(word)) return true
  if (STAYS_WORDS.has(word)) return false
  if (NEGATIONS.some(no => word.startsWith(no) && STAYS_WORDS.has(word.slice(no.length)))) return true
  if (meaning === 'state') return undefined
  if (isFalse) return meaning !== 'left'
  if (TRUE_WORDS.has(word)) return meaning === 'left'
  if (meaning === 'left' && NOTHING_WORDS.has(word)) return false
  // the time since which the column is true
  return meaning !== 'choice' && DATE.test(word) ? meaning === 'left' : undefined
}

/**
 * What a cell of any column looks like: a `word` of leaving that concerns nothing but mail, another word of
 * leaving (`left`, or `vague` if it is said of much else) or of staying, an answer, a date, a date that says
 * `never`, a number that may be a code, no value, a word for `none`, or other text.
 */
export type CellKind =
  | 'word'
  | 'left'
  | 'vague'
  | 'stays'
  | 'true'
  | 'false'
  | 'date'
  | 'never'
  | 'code'
  | 'nothing'
  | 'none'
  | 'other'

export function kindOfCell(cell: string): CellKind {
  const word = plainValue(cell)
  if (NOTHING_WORDS.has(word)) return NONE_WORDS.has(word) ? 'none' : 'nothing'
  if (isOfMailOnly(word)) return 'word'
  if (SMTP_STATUS.test(word)) return 'left'
  const left = hasLeft('state', cell)
  if (left !== undefined) return left ? (VAGUE_WORDS.has(word) ? 'vague' : 'left') : 'stays'
  if (NO_DATE.test(word) && word.length >= NO_DATE_CHARACTERS_MIN) return 'never'
  if (FALSE_WORDS.has(word) || NO_DATE.test(word)) return 'false'
  if (TRUE_WORDS.has(word)) return 'true'
  if (WHOLE_DATE.test(word) || NAMED_DATE.test(word)) return 'date'
  if (CODE.test(word)) return 'code'
  return isLeavingPhrase(cell, isOfLeaving) ? 'left' : 'other'
}

/** Whether a cell, or a tag in it, speaks of leaving, though not by one of the words that programs use. */
export function hasDoubtfulTag(cell: string): boolean {
  return cell.split(TAG_SEPARATOR).some(tag => kindOfCell(tag.trim()) === 'left')
}

function isOfLeaving(word: string): boolean {
  return LEAVING_WORDS.has(word) || LEFT_WORDS.has(word)
}

function isOfMailOnly(word: string): boolean {
  return LEAVING_WORDS.has(word) && !OTHER_LEAVING_WORDS.has(word)
}

/** A minus sign counts in front of a number, where it is no hyphen. */
function plainValue(cell: string): string {
  const word = withoutAccents(cell).replace(/[\s_\p{Pd}'’]/gu, '')
  return /^\s*\p{Pd}\d/u.test(cell) ? `-${word}` : word
}
