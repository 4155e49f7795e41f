/**
 * Recognises names and short values that forbid mail or contact, permit it, or speak of leaving among other
 * words, in the languages of `consent-words.ts`.
 */
import { withoutAccents } from './consent-words.ts'

export const list = (...lines: string[]) => lines.flatMap(line => withoutAccents(line).split(' '))
export const tokens = (...lines: string[]): ReadonlySet<string> => new Set(list(...lines))
/** Whether a set has the word, or a long one with another ending. */
export function hasStem(set: ReadonlySet<string>, word: string): boolean {
  if (set.has(word)) return true
  for (let cut = 1; cut <= ENDING_CHARACTERS_MAX; cut++)
    if (
      word.length - cut >= STEM_CHARACTERS_MIN - (word.endsWith('s') && cut === 1 ? 1 : 0) &&
      set.has(word.slice(0, -cut))
    )
      return true
  return false
}
const ENDING_CHARACTERS_MAX = 3
const STEM_CHARACTERS_MIN = 5

/** Matches a part of a name that has no blanks. */
export const anyPartOf = (...lines: string[]) => new RegExp(list(...lines).join('|'), 'u')

const FORBIDDING = tokens(
  'do-not donot dont doesnt wont not no never stop none without forbid forbids forbidden prohibited declined refused ' +
    'against decline refuse refuses declines',
  'nicht kein keine keinen keinerlei nie ohne untersagt verweigert verboten unerwünscht ablehnt abgelehnt lehnt',
  'inte icke ikke ej ingen intet ei nie nechce nechci nem hayir istemiyor',
  'ne pas aucun aucune plus jamais sans interdit interdite refus refuse refusé refusée',
  'no sin nunca ningun ninguna prohibido prohibida rechaza rechazado non senza mai nessuna nessun vietato vietata rifiuta ' +
    'rifiutato não sem nenhum proibido proibida recusa recusado',
  'niet geen nooit zonder verboden weigert geweigerd ongewenst nie bez brak zakaz zabroniony zabroniona zabronione żadnych',
  'не нет без никаких запрет запрещено запрещен запрещена запрещён отказ לא אל אין ללא אסור لا عدم غير بدون ممنوع',
)
const FORBIDDING_PARTS = anyPartOf('不 勿 禁止 拒 別 别 しない ません')
/** Words for actions that are forbidden or permitted. Compounds count, such as `Kontaktaufnahme`. */
const CONTACTING = anyPartOf(
  'mail contact bulk marketing newsletter promotion promo solicit kontakt werbung werbe anschreib angeschrieben anspr(?:ache|echen) ' +
    'zusendung courriel infolettre envoi démarch sollicit prospection publicit publicid pubblicit correo boletin ' +
    'contatt contato contatar correio invio envio comunica communica nieuwsbrief benader reklam reclame poczt ' +
    'wiadomosc biuletyn почт письм рассыл контакт связ реклам דוא דיוור מייל קשר פרסומ פרסום بريد اتصال تواصل رسائل مراسل',
  'mejl epost wysyl przysyl присыл посыл слать skick sende send posil zasil kuld gonder verstur verzend',
  'メール 連絡 配信 メルマガ 広告 案内 邮件 郵件 联系 聯絡 联络 营销 行銷 推广 推廣 广告 廣告 信息推送',
)
const CONSENT = anyPartOf(
  'consent einwillig zustimm subscri abo list member mitglied gdpr dsgvo rgpd autorisation permis consenso conferm iscriz ' +
    'toestemming zgod соглас подпис הסכמה מנוי موافق اشتراك 同意 購読 订阅 訂閱',
)
const INTEREST = anyPartOf('interes интерес עניין מעוניין مهتم 関心 興味 兴趣 興趣')
const REQUESTING = anyPartOf(
  'asked request verlang takeme removeme require exige exig gebeten bittet bitte wunsch demand pidio solicit chiest richiest pediu pedido verzoek gevraagd prosi prosb poprosil просил просит просьб ביקש طلب 希望 要求',
)
const WANTED = anyPartOf(
  'wanted desired erwunscht gewunscht souhait desead desiderat desejad gewenst zyczy marketab mailab',
)
const PERMITTING = tokens(
  'permission permiso permesso permissao autorisation autorizacion autorizzazione autorizacao pozwolenie zgoda разрешение',
  'willing wenst wenscht bereit nimmt may can could allowed ok okay wants wish wishes like darf dürfen kann möchte will gewünscht erwünscht erlaubt',
  'peut peux souhaite souhaité veut puede desea quiere può vuole desidera pode deseja quer mag wil gewenst kan',
  'można chce życzy можно может хочет желает מותר רוצה מעוניין يمكن يرغب يريد',
)
const FILLERS = tokens(
  'e by per via por par mass direct the of to for me us we you he she they his her werden wird be être ser essere zijn',
  'allgemein general massen senden send sending post',
)
/** Words of leaving, of mail that fails, and of suppression, at the beginning of a word in a cell. */
const LEAVING = new RegExp(
  `^(?:${list(
    'unsub takemeoff removeme spamreport reportedspam reportspam mailboxfull mailboxunavailable mailboxdisabled mailboxnotfound nosuchuser userunknown unknownuser recipientrejected addressrejected optout optedout optingout bounce hardbounce softbounce blacklist blocklist denylist suppress donotcontact donotemail',
    'donotmail donotsend dontcontact dontemail dontmail undeliver nondeliver uninterested disinterested',
    'abgemeldet abmeld abbestell ausgetragen austragung unzustellbar widerspr widerruf widerrufen ausgetreten austritt desinteress',
    'neposil nezasil désinscri désabonn désinteress indélivr injoignable desuscri desapunt rebotad disiscri rimbalz descadastr desinscri devolvid',
    'uitgeschreven uitschrijv afgemeld afmeld onbestelbaar wypisan wypisał niedostarcz отпис недоставл незаинтересован',
    'הסרה הוסר إلغاءالاشتراك ارتداد 配信停止 配信解除 配信拒否 受信拒否 購読解除 購読停止 退会 バウンス 不達 退订 取消订阅 黑名单',
    '拉黑 拒收 退信 退訂 取消訂閱 黑名單',
  ).join('|')})`,
  'u',
)
const FORMER = tokens(
  'ex former ehemaliger ehemaliges ehemalige ancien ancienne antiguo antigua antigo voormalig byly były бывший',
)
const COMPANY = tokens('ltd limited inc llc gmbh ag co corp sa sarl srl spa bv nv kg ug plc oy ab as')
/** Longer cells are texts, in which such words may be about anything. */
const PHRASE_WORDS_MAX = 6
export const PHRASE_CHARACTERS_MAX = 48

/** Splits at blanks, punctuation and capitals. `Don't` is one word. */
export function wordsOf(text: string): string[] {
  const spaced = text
    .replace(/['’]/g, '')
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
  return withoutAccents(spaced)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
}

/** Whether the words forbid or permit contact, or name nothing but a way of it; undefined if they do not. */
export function contactingOf(words: readonly string[]): 'forbids' | 'permits' | undefined {
  const has = (part: RegExp) => words.some(word => part.test(word)) || part.test(words.join(''))
  if (isForbidding(words) && (has(CONTACTING) || has(INTEREST))) return 'forbids'
  if (!has(CONTACTING)) return undefined
  const isPermission = words.some(word => PERMITTING.has(word))
  return isPermission || words.every(word => CONTACTING.test(word) || FILLERS.has(word))
    ? 'permits'
    : undefined
}

/** Whether words negate or forbid something. `Contact no.` is a number. */
export function isForbidding(words: readonly string[]): boolean {
  return words.some(
    (word, i) =>
      FORBIDDING_PARTS.test(word) || (FORBIDDING.has(word) && !(word === 'no' && i === words.length - 1)),
  )
}

/**
 * Whether a short text has words of leaving: those of mail alone, or others beside words of mail and consent.
 * @param isLeaving whether a single word may be one of leaving
 */
export function isLeavingPhrase(text: string, isLeaving: (word: string) => boolean): boolean {
  if (text.length > PHRASE_CHARACTERS_MAX || text.includes('@') || text.includes('://')) return false
  const words = wordsOf(text)
  if (words.length > PHRASE_WORDS_MAX || words.some(word => COMPANY.has(word))) return false
  if (words.some((_, i) => LEAVING.test(words.slice(i, i + 3).join('')))) return true
  const has = (part: RegExp) => words.some(word => part.test(word))
  if (words.some(word => FORMER.has(word) || /^ex\p{L}/u.test(word)) && has(CONSENT)) return true
  if (isForbidding(words)) return has(CONTACTING) || has(INTEREST) || has(CONSENT) || has(WANTED)
  return words.some(isLeaving) && (has(CONTACTING) || has(CONSENT) || has(REQUESTING))
}
