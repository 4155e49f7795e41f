/** Phrases in many languages by which bounces are recognized, for text normalized by `fold`. */

/** Subjects of bounces. */
export const BOUNCE_SUBJECT = new RegExp(
  [
    'undeliver|un-deliver|non-?deliver|not (?:be )?deliver|returned (?:e-?)?mail|return(?:ed)? to sender|failure notice',
    '(?:delivery|e-?mail|message|mail) (?:status|notification|failure|fail|has failed|error|problem|could|delayed|system error|report|rejected|blocked|was rejected|delivery)',
    'fail(?:ed|ure)?\\b.{0,20}deliver|(?:could|can|was|were) ?n.?o?t (?:be )?(?:deliver|sent)|unable to deliver|could not send|delayed (?:e-?)?mail|\\bbounced?\\b|\\bndn?r?:|warning: (?:message|could)|message you sent|returned:|rejected:|user unknown|mail failure|problem deliver|not member|(?:banned|virus).{0,30}from you|delivery (?:has been )?delayed|delivery delay|permanent (?:delivery )?(?:error|failure)|non remis',
    'unzustellbar|nicht (?:zugestellt|zustellbar|ubermittelt)|zustell(?:ung|bericht|fehler)|ubermittlungsstatus|fehlgeschlagen|fehler bei der|nicht zugestellt werden|nachricht verzogert|unzustellbarkeit',
    'non (?:remis|distribue|delivre)|echec de (?:la )?(?:remise|distribution|livraison)|notification d.etat|impossible de (?:remettre|distribuer)|retour a l.expediteur|avis de non',
    'no (?:se )?(?:entregad|pu[de]\\S{0,3} (?:ser )?entreg)|no se (?:puede|ha podido|pudo) entregar|(?:error|fallo) (?:en|de) (?:la )?entrega|devuelto|estado de (?:la )?entrega|rebotad',
    'non recapitabil|mancat[ao] (?:recapito|consegna)|non (?:e stato )?(?:recapitat|consegnat)|consegna (?:non riuscita|fallita)|errore di consegna|messaggio non',
    'nao (?:foi )?entreg|falha (?:na|de) entrega|nao (?:pode|pode) ser entreg|mensagem (?:devolvida|nao)|devolucao|notificacao de (?:falha|status)',
    'onbestelbaar|niet (?:bezorgd|afgeleverd)|aflevering|bezorging|olevererbar|kunde inte levereras|ikke levere[st]|uleverbar|levering|toimitus|ei voitu toimittaa|toimittaminen',
    'niedostarcz|nie (?:zosta.a |mog.a |moze )?(?:byc |zostac )?dostarcz|niedorecz|zwrot|nedoruc|nelze dorucit|kezbesit|teslim edilem|iletilem',
    'не ?доставлен|недоставлен|не может быть доставлен|невозможно доставить|не удалось доставить|ошибка доставки|возвра[тщ]|отчет о доставке',
    '配信(?:不能|でき|エラ|失敗|不可)|送信(?:でき|エラ|失敗)|配[送達](?:でき|エラ|不能)|不達|未達|エラーメール|届(?:きません|けでき)|宛先不明|返送',
    '退信|退回|无法(?:投递|送达|发送)|(?:投递|发送|送达)(?:失败|失敗|不成功)|未能送达|無法(?:傳遞|投遞|送達)|傳遞(?:失敗|狀態)|反彈|반송|배달|전송 ?실패|발송 ?실패',
  ].join('|'),
)

/** Sentences of bounces. */
export const BOUNCE_PHRASE = new RegExp(
  [
    '(?:could|can|was|were|has|had|have|would)(?:n.t| ?not)[^.]{0,20} (?:been )?(?:be )?(?:deliver|reach|sent\\b|transmitted)|unable to (?:deliver|send|reach)|(?:did|could) not reach|not delivered|undeliver|non-?deliver|cannot (?:be )?(?:deliver|send)|failed to (?:deliver|send)',
    '(?:deliver\\S{0,3}|message|mail)[^.]{0,60} (?:failed|delayed|rejected|refused|returned|blocked)|(?:permanent|fatal|transient|delivery) (?:fatal )?(?:error|failure|problem)|(?:following|these) (?:recipient|address|destination|mailbox)',
    'had (?:delivery|permanent|transient)|i.ve given up|does not like recipient|not accepting mail|recipients? (?:was|were) (?:rejected|affected)|did not receive|user.s\\)? account|returned (?:below|to you)|(?:is|was) rejected|unknown user:|mailbox (?:exceeds|is full)|transcript of session|reasons?:',
    '(?:nicht|nie) (?:\\S{1,20} ){0,3}(?:zugestellt|zustellen|erreichen|ubermittelt)|zustellung[^.]{0,60}fehlgeschlagen|unzustellbar|folgende[nr]? (?:empf|adress)',
    'n.a (?:pas )?(?:pu )?(?:etre )?(?:remis|distribue|delivre)|pas pu etre|echec de la|destinataires? suivant|(?:remise|distribution)[^.]{0,40}(?:echoue|impossible)',
    'no (?:ha podido|pudo|se ha podido|se pudo|puede|se puede|llego)[^.]{0,40}|destinatarios? siguientes?|error de entrega',
    'non (?:e stat[oa]|ha potuto|puo)[^.]{0,30}(?:consegn|recapit|invia)|seguenti destinatari|impossibile (?:consegnare|recapitare)',
    'nao (?:pode|foi|pude)[^.]{0,40}(?:entreg|envia)|seguintes destinatarios|nao foi possivel',
    'niet (?:\\S{1,16} ){0,2}(?:afgeleverd|bezorgd)|geadresseerde|inte levereras|ikke levere[st]|ei voitu|nie (?:mog.a|moze|zosta.a|uda.o)[^.]{0,30}dostarcz|niepowodz|iletilem|teslim edilem|nedorucen',
    'не (?:может быть|удалось|была?|были)[^.]{0,30}достав|невозможно доставить|не доставлен|недоставлен',
    '(?:配信|配送|配達|送信|届け?)[^。]{0,20}(?:でき(?:ません|なかった)|ません|失敗|エラー)|存在し(?:ません|ない)|見つかりません|ユーザ不明|満杯',
    '(?:投递|发送|送达|傳遞|投遞)[^。]{0,10}(?:失败|失敗|不成功)|未能(?:成功)?送达|退信|被退回|无法(?:投递|送达|发送)|無法|반송|실패',
  ].join('|'),
)

/** Sentences that only bounces contain, if the text names an address. */
export const DELIVERY_SENTENCE = new RegExp(
  [
    '(?:could|can|was|were|has|have)(?:n.t| ?not)[^.]{0,20} (?:be )?(?:successfully )?(?:delivered|reached|sent) (?:to|because|as|due)|following (?:recipients?|address(?:es)?|destinations?)[^.]{0,40}(?:fail|undeliver|rejected|not)|(?:message|mail)[^.]{0,80} (?:postponed|returned|undeliverable)',
    '(?:non-?delivery|undeliverable|delivery failure) (?:report|notification|message)|(?:because|due|as|since)[^.]{0,30} (?:mail ?box|inbox) is full|failed to deliver (?:your|the) (?:message|mail)|unable to deliver (?:your|the) (?:message|mail)|delivery of (?:your|the|this) (?:message|mail)[^.]{0,60} failed|(?:undeliverable|not delivered|delivery failed)(?: to)?: ?@',
    'zustellung[^.]{0,60} (?:fehlgeschlagen|gescheitert|nicht moglich)|(?:nachricht|mail|sms)[^.]{0,60} (?:unzustellbar|nicht[^.]{0,30}(?:zugestellt|zustell|ubermittel))|nicht zugestellt werden',
    '(?:n.a pas pu|n.a pu|n.ont pas pu|ne peut|impossible de|pas ete)[^.]{0,30}(?:remis|remettre|distribu|delivr|livre|achemin|transmis)',
    'no (?:ha podido|pudo|se ha podido|se pudo|ha sido|fue)[^.]{0,20} ?(?:ser )?entreg',
    'non (?:e stato possibile|e stat[oa]|puo essere|ha potuto)[^.]{0,20} ?(?:consegn|recapit)|impossibile (?:consegnare|recapitare)',
    'nao (?:pode|foi|foi possivel|pude)[^.]{0,20} ?(?:ser )?entreg',
    '(?:niet|kon)[^.]{0,30}(?:bezorgd|afgeleverd|bestel|worden geleverd)',
  ].join('|'),
)

/** Words by which such a sentence is about goods. */
export const GOODS =
  /\b(?:parcel|package|shipment|courier|colis|paket|sendung|paquete|pacco|encomenda|pakket)/

/** Phrases that say that the mail will be retried. */
export const DELAY_PHRASE =
  /postponed|still being retried|not yet been delivered|will (?:be )?(?:retr|continue|keep)|keep(?:s)? trying|warning (?:message )?only|need to resend|delivery attempts will|delay(?:ed)?\b[^.]{0,60}(?:recipient|delivery|hours|message)|(?:delivery|message|mail)[^.]{0,60} delay|transient non-?fatal|bisher (?:noch )?nicht|noch nicht zugestellt|weiter versucht|verzogert|retardee?|retrasad|in ritardo|atrasad|opoznion|задерж|отложен|遅延|遅れ|延迟|延遲/
/** Phrases that no report about abandoned mail contains, even if it says what happens in the end. */
export const STILL_TRIED =
  /still being retried|not yet been delivered|keep(?:s)? trying|attempts will continue|will continue to (?:try|be)|will be retried|continue to be attempted|weiter versucht/
export const GIVEN_UP =
  /permanent|given up|giving up|(?<!will )(?<!eventually )give up|going to try again|no further (?:delivery )?attempts|will not (?:be )?(?:retried|continue)|not (?:be )?retried|(?:deleted|removed) from|exceeded|too long|(?<!will be )(?<!will then be )returned to/

const AUTO_WORDS =
  'out of (?:the )?office|out-of-office|ooo\\b|auto(?:matic|mated)?[ -]?(?:repl|respon|answer)|autoreply|autoresponder|vacation|away from my|on (?:annual |maternity |parental )?leave|abwesen|automatische? antwort|antwort automatisch|nicht im (?:haus|buro)|urlaub|eingangsbestatigung|absence|absent(?:e)?\\b|reponse automatique|conge|respuesta automatica|fuera de (?:la )?oficina|ausencia|risposta automatica|fuori (?:sede|ufficio)|assenza|resposta automatica|ausente|fora do escritorio|automatisch antwoord|afwezig|autosvar|automatiskt? svar|franvaro|fravaer|fraver|automaattinen|poissa|automatyczna odpowied|autoodpowied|nieobecn|automaticka odpoved|otomatik (?:yanit|cevap)|automatikus valasz|автоответ|автоматическ|отсутств|自動(?:返信|応答|回覆|回复)|自动(?:回复|答复)|不在|休假|外出|부재|자동 ?(?:회신|응답)'
/** Subjects of automatic replies. */
export const AUTO_SUBJECT = new RegExp(`${AUTO_WORDS}|^auto:`)

export const CHALLENGE_PHRASE =
  /(?:confirm|verify|authenticat|approve|release|prove)[^.]{0,60}(?:message|e-?mail|mail\b|sender|address|deliver|human|person)|challenge|antispam uol|confirmar o envio/
export const CHALLENGE_ACT =
  /(?:confirm|verify|clicki?n?g?|follow|clique|reply|send an empty)[^.]{0,80}(?:link|https?:|address|below|button|abaixo|message|feature)|being held|(?:mensagem|message) (?:foi )?retida/
