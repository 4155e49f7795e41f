/**
 * Tells from the words in the name of a column whether its values may say who has left, for columns that
 * `consent.ts` does not know by their whole name. Programs name such columns in endless ways, so words and
 * parts of words count, in the languages of `consent-words.ts`.
 */
import { anyPartOf, contactingOf, hasStem, tokens, wordsOf } from './contact-words.ts'
import { hasOtherSubject, isFigure, isNoAnswer, isOfMail } from './ordinary-names.ts'

export interface Suspicion {
  /** What a true value says; `unclear` if words of both meanings, or a negation, are in the name. */
  leaning: 'left' | 'stays' | 'unclear'
  /** Whether the words concern nothing but mail, as `bounced` does and `blocked` does not. */
  isStrong: boolean
  /** Whether the name only says that it is about mail, as `newsletter`. */
  isTopic: boolean
  /** Whether numbers other than 0 and 1 may be codes. */
  takesCodes: boolean
}

/** Parts of names that speak of leaving a list, of refusing mail, or of an address that fails. */
const STRONG_LEFT = anyPartOf(
  '(?:do(?:es)?not|do(?:es)?nt|no)(?:allow|send|receive|want|more|bulk|mass|direct|promotional|commercial|marketing|e)+(?:mail|contact|news|promo)',
  'unsub optout optedout optingout bounce bouncing blacklist blocklist denylist suppress donotcontact donotemail',
  'donotmail donotsend donotmarket donotallow donotdisturb dontcontact dontemail dontmail dontsend nocontact ' +
    'nomarketing nomail noemail stopmail stopemail undeliver unmailable uncontactable unreachable markedasspam reportedspam',
  'abgemeldet abmeld abbestell austrag ausgetragen gesperrt sperrvermerk mailsperre werbesperre kontaktsperre ' +
    'unzustellbar widerspr widerruf keinewerbung keinnewsletter keinee?mail keinkontakt keinenkontakt keinewerbemail keinemarketing nichtkontaktieren nichtanschreiben ' +
    'kontaktverbot robinson rucklaufer ruecklaeufer sperrliste nichtzulassen',
  'desinscri desabonn rebond listenoire nepascontacter nepasenvoyer nepassolliciter nepasautoriser injoignable',
  'desuscri rebot listanegra nocontactar noenviar dadodebaja nopermitir',
  'disiscri rimbalz listanera noncontattare noninviare nonconsentire',
  'descadastr desinscri listanegra naocontatar naoenviar naoperturbe naopermitir devolvid',
  'uitgeschreven uitschrijv afgemeld afmeld zwartelijst nietcontacteren nietmailen nietbenaderen onbestelbaar ' +
    'niettoestaan',
  'wypisan czarnalista niekontaktowac niewysylac niedostarcz odbity odbite niezezwalaj',
  'отпис чёрныйсписок чернсписок неконтакт небеспокоить несвязываться нерассыл неотправлять недоставл',
  'הסרה הוסר רשימהשחורה רשימההשחורה לאליצורקשר אלתיצורקשר לאלשלוח ביטולמנוי',
  'إلغاءالاشتراك القائمةالسوداء قائمةسوداء ارتداد مرتد لاتتصل لاترسل عدمالاتصال',
  '수신거부 구독해지 탈퇴 配信停止 配信解除 配信拒否 配信不可 受信拒否 購読解除 購読停止 退会 ブラックリスト バウンス 不達 連絡不可 送信不可 ' +
    'メール不可 オプトアウト',
  '退订 取消订阅 黑名单 拉黑 拒收 退信 请勿联系 不要联系 勿扰 退訂 取消訂閱 黑名單 封鎖 請勿聯絡 勿擾',
)
const STRONG_LEFT_TOKENS = tokens('dnc dne dnm npai bounces')

/** Words that may speak of leaving, and of much else. */
const WEAK_LEFT = tokens(
  'block blocked blocking hold onhold held inactive inactif inactivo inattivo inativo disabled disable deactivated',
  'deleted removed archived banned invalid cancelled canceled revoked withdrawn cleaned excluded exclude exclusion ' +
    'ignored dead lost left quit stop stopped paused muted frozen suspended terminated churned lapsed rejected ' +
    'denied forbidden restricted locked unconfirmed unverified refused declined objected junk abuse spam complaint ' +
    'complaints complained complainer hardfail ' +
    'pending awaiting expired failed failing failure quarantined ineligible dormant disengaged deceased obsolete ban ' +
    'gone departed departure leave leaving exited exit withdraw withdrew rescinded retracted unregistered delisted unlisted disallowed ' +
    'disapproved prohibited vetoed dissent unresponsive sunset ' +
    'parti partie depart decede decedee quitte retire retiree retrait radie radiation rejete echec echoue refus sorti sortie ' +
    'fallecido fallecida abandono abandonado retiro retirado retirada salida cese cesado rechaza rechazo denegado denegada negado negada ' +
    'deceduto deceduta uscito uscita ritirato ritirata ritiro rifiuta rifiuto negato negata cessato cessata cessazione revoca ' +
    'falecido falecida saiu saida recusa recusado recusada encerrado cessado ' +
    'zmarly zmarla odszedl odeszla odejscie koniec odmowa cofniecie sprzeciw умер умерла ушел ушла уход ушёл отзыв против возражение ' +
    'closed remove bad ended quitted leaver opposed opposes objects object unengaged inaktive ' +
    'unwanted ausstehend abgelaufen attente expire pendiente pendente inattesa oczekujacy ожидает',
  'inaktiv deaktiviert geloescht gelöscht entfernt archiviert ungueltig ungültig storniert gekuendigt gekündigt ' +
    'ausgeschlossen pausiert stillgelegt unbestaetigt unbestätigt blockiert geblockt sperre beschwerde abgelehnt',
  'bloque bloquee desactive desactivee supprime supprimee invalide resilie resiliee refuse refusee exclu plainte ' +
    'suspendu opposition archive',
  'bloqueado bloqueada desactivado desactivada eliminado eliminada invalido invalida baja cancelado cancelada ' +
    'suspendido suspendida rechazado queja excluido inactiva',
  'bloccato bloccata disattivato disattivata eliminato cancellato cancellata sospeso rifiutato reclamo escluso inattiva',
  'inativa desativado desativada excluido removido reclamacao suspenso rejeitado',
  'geblokkeerd inactief uitgeschakeld verwijderd ongeldig geannuleerd klacht geweigerd',
  'zablokowany zablokowana nieaktywny nieaktywna usuniety nieprawidlowy rezygnacja skarga wstrzymany',
  'заблокирован заблокирована неактивен неактивна неактивный удален удалена отключен жалоба спам отказ',
)
/** Parts of the same kind in scripts that write words together, and in compounds. */
const WEAK_LEFT_PARTS = anyPartOf(
  'objection objected cancellation cancelation withdrawal revocation termination resignation resigned churn deactivation erasure ' +
    'ausgetreten austritt kundig kuendig untersagt verweiger verboten unerwunscht widerspr loesch losch storno sperrung',
  'verstorben zuruckgezogen zuruckgenommen zurueckgezogen entzogen beendet beendig ausgeschieden ausscheid ablehn abgelehnt fehlgeschlagen ' +
    'vertrokken vertrek overleden ingetrokken intrekking gestopt beeindig opzeg opgezeg wycofan zakonczon прекращ заверш отозван возраж ' +
    'נפטר סירב מסרב התנגד توفي غادر سحب رفض يرفض اعتراض 死亡 撤回 終了 辞退 離脱 撤销 撤銷 离职 結束 结束 拒',
  'sperrgrund desinteres stoppen stopzetten terminee terminad terminat perdid esclus excluid blokkad karteileiche unterbind entfall verzogen adhesiontermin usuniec skasowan удален ' +
    'interdi resiliation demission renuncia cancelacion anulacion disdetta recesso dimission cancellazion annullament cancelament desligad ' +
    'desligament proibid prohibid vietat opgezegd opzegging uittred uitgetreden verboden ongewenst zabronion rezygnac zrezygnow wystapi wypowiedz',
  'выбыл вышел расторг запрещ отказ отмен ביטול בוטל עזב פרש אסור הפסק انسحب انسحاب إلغاء ملغى ممنوع توقف 脱退 中止 キャンセル 退出 注销 註銷 离开 離開 取消 禁止 终止 終止 拒绝 拒絕',
  'חסום חסומ מושבת לאפעיל מחוק ספאם תלונה محظور حظر غيرنشط معطل محذوف شكوى مزعج',
  '無効 停止 拒否 ブロック 迷惑メール 苦情 解約 削除 除外 屏蔽 投诉 垃圾邮件 停用 禁用 无效 已删除 冻结 投訴 垃圾郵件 停用 無效',
  'gesperrt blockiert spam エラー',
)

/** Words that say that mail is wanted or arrives, or that an account is in use. */
const STAYS = tokens(
  'active activated enabled enable confirmed confirm confirmation verified validated valid approved allow allowed',
  'allows accept accepted accepts agree agreed permitted permission permissions consent consented consents optin ' +
    'contactable mailable emailable marketable deliverable reachable receive receives wants ' +
    'doi eligible sendable usable alive ok send notify sub subs validation verification',
  'souhlas souhlasi samtykke samtycke suostumus hozzajarulas acord izin izni onay rizasi συγκαταθεση',
  'akzeptiert einverstanden erhaelt erhalt aktiv aktiviert bestaetigt bestätigt verifiziert gueltig gültig erlaubt zugestimmt zugelassen erreichbar',
  'accepter recoit recevoir souhaite autoriza autorizo acepta aceptado recibe recibir actif active confirme confirmee valide autorise autorisee accepte joignable activo activa confirmado confirmada',
  'valido valida permitido permitida verificado verificada attivo attiva confermato confermata consentito verificato',
  'accetta accettato riceve recebe akkoord accepteert ontvangt ativo ativa confirmado permitido aceita actief bevestigd toegestaan geldig ingeschakeld',
  'akceptuje otrzymuje aktywny aktywna potwierdzony potwierdzona zweryfikowany dozwolony wlaczony zgoda zgody',
  'принимает получает получать активен активна активный подтвержден подтверждена подтверждён разрешен включен согласие',
)
const STAYS_PARTS = anyPartOf(
  'subscri optin optedin consent cancontact canemail canmail cansend maycontact mayemail acceptsmarketing oktoemail oktomail ' +
    'oktocontact oktosend',
  'empfang erhalten einverstandnis einwillig zustimm bestatigt bestaetigt erlaubnis abonn suscri iscritt inscri inscrit assinante aangemeld ' +
    'ingeschreven toestemming',
  'subskryb zapisan подпис соглас מנוי רשום מאושר מאשר אישור הסכמה פעיל مشترك اشتراك موافق نشط مفعل مؤكد استلام',
  '동의 구독 수신 購読 配信 受信 同意 有効 確認済 オプトイン 订阅 同意 有效 激活 已确认 启用 接收 愿意 願意 訂閱 已確認 啟用',
)
/** Topics that a contact may have chosen. */
const TOPICS = tokens(
  'newsletter newsletters nl mailing mailings emailing mailinglist marketing gdpr dsgvo rgpd rodo werbung ' +
    'notifications notification promotions promos offers digest digests announcements publicidad pubblicita ' +
    'publicite reklama reclame',
  'rundbrief rundbriefe rundmail infomail bulletin circular ezine werbemails infolettre boletin nieuwsbrief biuletyn nyhedsbrev nyhetsbrev uutiskirje hirlevel zpravodaj novinky bulten ebulten buletin 뉴스레터 рассылка ניוזלטר דיוור メルマガ',
)
const STATUS = tokens(
  'status statuscode statusid statuses statut stato estatus stat etat zustand stav durum durumu tillstand tila allapot stare stan 상태 statusreason статус סטטוס الحالة',
)
const STATUS_PARTS = anyPartOf('ステータス 状態 状态 狀態 kundenstatus kontaktstatus')

/** Words of an end or a failure, which speak of leaving beside the word for a list, mail or an address. */
const ENDS = tokens(
  'until bis end ends ende fin fine fim einde eind koniec конец error errors erreur fehler error errore erro fout blad ошибка reject',
  'devuelto devuelta respinta respinto terug devolvido zwrocony zuruck zurueck retour retorno return returned onjuist nieprawidlowy неверный fehlerhaft errone erronee erroneo errato incorrect wrong falsch',
)
/** Words for the end of a time, which may be over. */
const UNTIL = tokens('until till bis jusqu hasta fino ate до tot')
const ENDING = anyPartOf(
  '^subs?$ mail correo courriel correio poczt почт news abo subscri abonn consent einwillig zustimm address adress indirizz endereco direccion adres адрес подпис member mitglied adesion',
)
const NEGATIONS = tokens(
  'needs required requires missing without un not no non never nicht kein keine pas ne niet geen nie nao sin sem не нет לא אין غير لا',
)
/** Words that take back what the name says. */
const UNDONE = tokens('unblocked unsuppressed lifted released free aufgehoben')
const NEGATION_BEFORE = /(?:not|nicht|kein|non|pas|niet|geen|nie|nao|не|לא|غير|未|不|非)$/u

/** @returns undefined for a name that does not speak of leaving or staying */
export function suspicionOf(name: string): Suspicion | undefined {
  const words = wordsOf(name)
  const joined = words.join('')
  const has = (set: ReadonlySet<string>) => words.some(word => set.has(word))
  if (isNoAnswer(words)) return undefined
  const strong = STRONG_LEFT.exec(joined)
  if (strong || has(STRONG_LEFT_TOKENS)) {
    const before = joined.slice(0, strong?.index ?? 0)
    const isNegated = NEGATION_BEFORE.test(before) || has(UNDONE)
    return { leaning: isNegated ? 'unclear' : 'left', isStrong: true, isTopic: false, takesCodes: true }
  }
  if (hasOtherSubject(words)) return undefined
  const isEnd = has(ENDS) && words.some(word => ENDING.test(word))
  const left = isEnd || has(WEAK_LEFT) || WEAK_LEFT_PARTS.test(joined)
  const stays = has(STAYS) || STAYS_PARTS.test(joined)
  const takesCodes = has(STATUS) || STATUS_PARTS.test(joined)
  const contacting = contactingOf(words)
  if (
    !left &&
    !stays &&
    !takesCodes &&
    !contacting &&
    !isOfMail(words) &&
    !words.some(word => hasStem(TOPICS, word))
  )
    return undefined
  if (isFigure(words)) return undefined
  const isTopic = (!left && !stays) || has(UNTIL)
  if (contacting === 'forbids')
    return { leaning: stays ? 'unclear' : 'left', isStrong: false, isTopic, takesCodes }
  const isUnclear = left === stays ? left : has(NEGATIONS)
  const leaning = isUnclear || (takesCodes && !left && !stays) ? 'unclear' : left ? 'left' : 'stays'
  return { leaning, isStrong: false, isTopic, takesCodes }
}

/** Words for why something ended, which is what a file of contacts has reasons for. */
const REASONS = tokens(
  'error errors fehler erreur errore erro fout blad ошибка chyba fel fejl virhe hata hiba reason reasons cause causes grund motif raison cause motivo motivos causa razon reden powod przyczyna причина duvod orsak arsak arsag syy ok sebep neden motiv סיבה سبب',
)
const REASON_PARTS = anyPartOf('理由 原因 사유')

/** Whether the column holds reasons. */
export function isReason(name: string): boolean {
  const words = wordsOf(name)
  return (
    words.some(word => REASONS.has(word) || /(?:grund|fehler)$/.test(word)) ||
    REASON_PARTS.test(words.join(''))
  )
}
