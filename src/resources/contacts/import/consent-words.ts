/**
 * The words with which programs of several languages export whether a contact wants mail. Blanks separate
 * entries; blanks, hyphens and accents within an entry of a file do not matter.
 */

const LATIN_LETTERS: Readonly<Record<string, string>> = { ł: 'l', ı: 'i', ß: 'ss', ø: 'o', æ: 'ae' }

/** Text in lower case, without accents. */
export function withoutAccents(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[łıßøæ]/g, letter => LATIN_LETTERS[letter]!)
    .replace(/\p{M}/gu, '')
}

const words = (...lines: string[]): ReadonlySet<string> =>
  new Set(lines.flatMap(line => withoutAccents(line).split(' ')))

/** Values, names and tags that only say that the contact has left or cannot be reached. */
export const LEAVING_WORDS = words(
  'unsubscribed unsubscribe unsub unsubbed unsubscribedbyadmin globallyunsubscribed optout optedout hardbounced',
  'hardbounce softbounced bounced cleaned complained complainer spamcomplaint reportedspam markedasspam',
  'blocklisted blacklisted blocked suppressed cancelled canceled revoked withdrawn donotcontact donotmail ' +
    'donotemail donotsend noconsent optedoutofemail',
  'abgemeldet abmeldung ausgetragen austragung abbestellt abbestellung gekündigt gekuendigt widerrufen ' +
    'widerruf widersprochen widerspruch gesperrt geblockt blockiert storniert unzustellbar keinewerbung ' +
    'werbesperre werbewiderspruch mailsperre keinnewsletter keinemails',
  'désinscrit désinscrite désinscription désabonné désabonnée désabonnement résilié résiliée annulé annulée ' +
    'retiré révoqué révoquée bloqué bloquée exclu blacklisté rebondi plainte nepascontacter',
  'baja dadodebaja dadadebaja desuscrito desuscrita desuscripción cancelado cancelada anulado anulada ' +
    'revocado revocada bloqueado bloqueada rebotado rebotada nocontactar noenviar',
  'disiscritto disiscritta disiscrizione cancellato cancellata cancellazione annullato revocato revocata ' +
    'bloccato bloccata rimbalzato noncontattare',
  'descadastrado descadastrada descadastro descadastramento desinscrito desinscrita revogado revogada ' +
    'naocontatar naoenviar',
  'uitgeschreven uitschrijving afgemeld afmelding opgezegd geannuleerd ingetrokken geblokkeerd gebounced',
  'wypisany wypisana wypisano wyrejestrowany wyrejestrowana rezygnacja zrezygnował zrezygnowała anulowany ' +
    'anulowano wycofana wycofano zablokowany zablokowana odbity',
  'отписан отписана отписано отписался отписалась отписались отписка отписаться отменен отменена отозван ' +
    'отозвано заблокирован заблокирована',
  'הסרה הוסר הוסרה הוסרו הסר הסרתמנוי הסרהמרשימה הסרהמרשימתתפוצה הוסרמהרשימה הוסרמרשימתתפוצה ביטולמנוי ' +
    'ביטולהרשמה ביטלהרשמה בוטל בוטלה מבוטל חסום חסומה',
  'إلغاءالاشتراك ألغىالاشتراك تمإلغاءالاشتراك ملغى ملغي محظور مرتد',
  '配信停止 配信停止済 配信解除 配信拒否 受信拒否 購読解除 購読停止 登録解除 解除 解除済 退会 退会済 解約 停止 拒否 ' +
    'ブロック バウンス キャンセル オプトアウト',
  '退订 已退订 取消订阅 已取消订阅 取消 已取消 黑名单 屏蔽 已屏蔽 拉黑 已拉黑 拒收 退信 投诉',
  '退訂 已退訂 取消訂閱 已取消訂閱 黑名單 封鎖 已封鎖 投訴',
)

/** Those of `LEAVING_WORDS` that are also said of orders, payments and plans. */
export const OTHER_LEAVING_WORDS = words(
  'cleaned blocked cancelled canceled revoked withdrawn suppressed gekündigt gekuendigt widerrufen widerruf gesperrt',
  'geblockt blockiert storniert résilié résiliée annulé annulée retiré révoqué révoquée bloqué bloquée exclu plainte',
  'baja cancelado cancelada anulado anulada revocado revocada bloqueado bloqueada rebotado rebotada cancellato',
  'cancellata cancellazione annullato revocato revocata bloccato bloccata revogado revogada opgezegd geannuleerd',
  'ingetrokken geblokkeerd rezygnacja zrezygnował zrezygnowała anulowany anulowano wycofana wycofano zablokowany',
  'zablokowana отменен отменена отозван отозвано заблокирован заблокирована בוטל בוטלה מבוטל חסום חסומה ملغى ملغي',
  'محظور مرتد 解除 解除済 解約 停止 拒否 ブロック キャンセル 取消 已取消 屏蔽 已屏蔽 退信 投诉 封鎖 已封鎖 投訴',
)

/** Further values of a status that make no subscriber. */
export const LEFT_WORDS = words(
  'clean bounce complaint spam abuse abused disabled deactivated neversubscribed removed deleted archived ' +
    'undeliverable unreachable rejected pending unactivated waiting awaitingconfirmation transactional left ' +
    'bad schlecht mauvais mauvaise malo cattivo ruim slecht плохой closed locked dropped drop leave remove delete erase exclude cancel stop loschen löschen removal deletion erasure failure pasiv passiv pasif pasivo passivo passif passive avmeldt frameldt avregistrerad odhlasen odhlaseny zruseno dezabonat odvolan cofnieta cofnieto revoke leiratkozott leiratkozva peruttu peruutettu iptal zablokovan 해지 거부 수신거부 탈퇴 declined denied refused forbidden unverified unconfirmed invalid stopped paused suspended banned ' +
    'churned lapsed dead expired nok out failed notinterested spamreport erase terminata terminato terminé terminée terminado terminada perdido perdu löschung suppression usunięcie удаление unresponsive deceased prohibited disallowed departed gone',
  'ausgetreten verstorben zurückgezogen beendet ausgeschieden fehlgeschlagen untersagt verweigert parti partie décédé décédée ' +
    'retiré retirée échoué échouée refusé refusée fallecido fallecida retirado retirada denegado denegada negado negada fallido ' +
    'ritirato ritirata rifiutata negato negata uscito uscita fallito deceduto deceduta falecido falecida saiu recusado recusada ' +
    'vertrokken overleden ingetrokken mislukt gestopt zmarły zmarła wycofany odmówił odmówiła odszedł odeszła умер умерла ушел ' +
    'ушла вышел вышла отказался отказалась отказано ' +
    'ended terminated quit resigned objected opposed quarantined lost',
  'gelöscht geloescht entfernt deaktiviert abgelehnt ausstehend unbestätigt supprimé supprimée désactivé ' +
    'rejeté enattente eliminado eliminada rechazado pendiente rimosso rimossa rifiutato inattesa inattivo',
  'removido removida excluído excluída pendente verwijderd geweigerd inafwachting usunięty oczekujący',
  'zabronione autorisationrefusee desactivado desactivada inattiva desativado inactief nieaktywny',
  'verboten unzulässig notauthorized odmowa запрещено отказ אסור אלתאפשר ممنوع 許可しない 不許可 不可 禁止',
  'удален удалена ожидает неактивен ממתין محذوف معلق 無効 削除 保留 无效 無效 已删除 已刪除 待确认 待確認',
)

/** Those of `LEFT_WORDS` that are said of much else, and count only in columns of such words. */
export const VAGUE_WORDS = words(
  'bad schlecht mauvais mauvaise malo cattivo ruim slecht плохой closed locked dropped drop leave remove delete erase exclude cancel stop loschen löschen removal deletion erasure failure pasiv passiv pasif pasivo passivo passif passive clean left dead pending abuse transactional waiting lost out terminé terminée terminado terminada terminata terminato perdido perdu löschung suppression ended quit failed gone parti partie uscita retirada paused stopped expired invalid archived removed deleted',
)

/** Values of a status with which the contact stays. */
export const STAYS_WORDS = words(
  'subscribed subscriber active enabled confirmed verified optin optedin doubleoptin singleoptin ' +
    'confirmedoptin explicit express implied valid deliverable member ok granted given ' +
    'allow allowed accepted accept agreed permitted alive delivered open opened clicked aktif aktivni aktivny prihlasen tilmeldt pameldt abonat feliratkozott aktivan 구독 동의',
  'angemeldet abonniert abonnent aktiv bestätigt bestaetigt eingetragen erteilt zugestimmt',
  'zulassen zugelassen erlauben erlaubt autoriser autorisé permitir permitido consenti consentito consentire aceito',
  'toestaan toegestaan zezwalaj dozwolone разрешить разрешено אפשר مسموح السماح 許可 許可する 可 允许 允許',
  'abonné abonnée inscrit inscrite actif active confirmé confirmée suscrito suscrita activo activa inscrito ' +
    'inscrita confirmado alta',
  'iscritto iscritta attivo attiva confermato ativo ativa assinante aangemeld ingeschreven actief bevestigd',
  'zapisany zapisana aktywny aktywna potwierdzony подписан подписана активен активна подтвержден',
  'רשום רשומה מנוי פעיל פעילה מאושר مشترك نشط فعال 購読中 配信中 登録済 有効 已订阅 订阅 有效 已訂閱 訂閱',
)

/** Words in front of one of `STAYS_WORDS` that turn it round, such as `nicht` in `nicht abonniert`. */
export const NEGATIONS = [
  ...words(
    'not donot dont doesnot non no never un in nicht kein pas nepas nonpas não niet nie не нет לא אינו غير عدم 未 不 非',
  ),
]

export const TRUE_WORDS = words(
  '+ da ano igen kylla evet var nai ναι ναί 예 네 aan an sand sant igaz tosi dogru 可 true yes y 1 1.0 1,0 t on x ja j oui si sim tak wahr vrai vero verdadero verdadeiro waar prawda да истина כן نعم',
  'はい する 済 有 ○ 是 对 對 ✓ ✔ ☑ ✅',
)
export const FALSE_WORDS = words(
  'nu nej nei nem hayir οχι όχι 아니오 아니요 uit aus falsk hamis yanlis nepravda × ✗ ✘ ✕ false no n 0 0.0 0,0 f off nein non nee não nie falsch faux falso onwaar fałsz нет ложь לא لا いいえ しない 未 無 无 否 ☐',
)
/** What programs write for a value that is missing. The empty entry is a lone hyphen. */
export const NONE_WORDS = words(
  'never nothing nie nichts jamais rien nunca nada mai niente nooit niets nigdy никогда aldrig none keine keiner aucun aucune ninguno ninguna nessuno nessuna nenhum nenhuma geen brak ingen zadny zadna ei-mitaan yok なし 沒有 没有',
)
export const NOTHING_WORDS = new Set([...words('null na n/a nil [] {} '), ...NONE_WORDS])

/** Names of columns with the status of a contact. */
export const STATUS_NAMES = words(
  'status statut stato estatus contactstatus subscriptionstate статус סטטוס الحالة ステータス 配信状態',
  '状态 订阅状态 狀態 訂閱狀態',
)
/** Names of columns that are true for contacts who stay. */
export const STAYING_NAMES = words(
  'subscribed issubscribed emailsubscribed subscribedtoemails subscribe optin optedin emailoptin emailoptedin ' +
    'isoptedin doubleoptin confirmedoptin emailmarketing emailmarketingconsent emailconsent marketingconsent ' +
    'acceptsmarketing acceptsemailmarketing emailmarketingsubscribed marketingoptin consent ' +
    'isthissubscriberconfirmed',
  'angemeldet abonniert einwilligung zustimmung werbeeinwilligung consentement inscrit abonné suscrito',
  'consentimiento iscritto consenso inscrito consentimento ingeschreven aangemeld toestemming zapisany zgoda',
  'подписан согласие רשום הסכמה مشترك موافقة 配信希望 配信許可 同意 已订阅 已訂閱',
)
/** Names of columns that may be one of several newsletters or plans, or say whether there is any. */
export const CHOICE_NAMES = words(
  'newsletter newsletters newslettersubscription subscribetonewsletter receivenewsletter receivesnewsletter ' +
    'mailinglist subscription subscriptions',
  'abonnement abo abos anmeldung newsletterempfänger erhältnewsletter inscription infolettre suscripción',
  'inscripción alta boletín abbonamento iscrizione inscrição assinatura inschrijving nieuwsbrief subskrypcja ' +
    'prenumerata',
  'подписка рассылка מנוי ניוזלטר הרשמה דיוור اشتراك الاشتراك 購読 メルマガ メール配信 订阅 訂閱 邮件订阅',
)
/** Names of columns with any words, among which may be one of leaving. */
export const TAG_NAMES = words(
  'tags tag labels label groups group lists list groupmembership segments segment categories category',
  'etiketten etikett schlagworte schlagwörter gruppen gruppe kategorien kategorie listen étiquettes groupes ' +
    'etiquetas grupos etichette gruppi labele etykiety grupy',
  'метки теги группы תגיות תוויות קבוצות وسوم تصنيفات タグ ラベル グループ 标签 標籤 分组 群組',
)
