/** Rules by phrases that blame the address, in eleven languages. They follow all rules that excuse it. */
import { any, close, near, type Rule } from './rule.ts'

const THINGS_DE = 'empf.{1,3}nger|postfach|benutzer|adresse|konto|mailbox|anwender|teilnehmer'
const THINGS_FR = 'destinataire|utilisateur|adresse|boite|compte|abonne'
const THINGS_ES = 'destinatario|usuario|buzon|direccion|cuenta'
const THINGS_PT = 'destinatario|usuario|utilizador|caixa|endereco|conta'
const THINGS_IT = 'destinatario|utente|casella|indirizzo|account'
const THINGS_RU = 'получател|пользовател|ящик|адрес|абонент|учетн|аккаунт'
const THINGS_PL = 'odbiorc|adresat|uzytkownik|adres|skrzynk|konto'
const THINGS_JA = '宛先|宛て先|ユーザ|アドレス|メールボックス|受信者|アカウント'
const THINGS_ZH = '用户|用戶|收件人|收信人|邮箱|信箱|郵箱|邮件地址|邮件帐户|地址|账号|帐号|账户|帐户|帳號'

export const ADDRESS_WORDS: readonly Rule[] = [
  {
    name: 'postfix: address verification failed',
    class: 'invalid-recipient',
    words: /restriction: undeliverable address/,
    sample: 'rcpt 550 Recipient address rejected: undeliverable address: host said: 550 no',
  },
  {
    name: 'postfix: address unknown, in one word',
    class: 'invalid-recipient',
    words:
      /restriction: (?:is |has )?(?:unknown|not found|non-?existent|no longer (?:valid|exists?|in use)|does ?n.?.?t exist|not (?:a )?(?:valid|known)|invalid|unbekannt|inconnu|desconocid|sconosciut|onbekend)(?! (?:client|sender|host|domain|helo|ip)\b)/,
    sample: 'rcpt 550 Recipient address rejected: unknown',
  },
  {
    name: 'postfix: address closed, in one word',
    class: 'inactive-mailbox',
    words:
      /restriction: (?:is |was |has been )?(?:disabled|inactive|suspended|deactivated|expired|discontinued|terminated|closed\b(?! for))/,
    sample: 'rcpt 550 Recipient address rejected: disabled',
  },
  {
    name: 'words: address closed',
    class: 'inactive-mailbox',
    words: near(
      'account|mail ?box|user|address|recipient',
      '\\bdisabled|inactive|not active|suspended|deactivated|discontinued|(?<!connection )\\bclosed|(?<!session )(?<!certificate has )expired|terminated|on hold|frozen|\\blocked',
    ),
    sample: 'rcpt 550 The account was disabled',
  },
  {
    name: 'words: address closed, other languages',
    class: 'inactive-mailbox',
    words: any(
      near(THINGS_DE, 'deaktiviert|gesperrt|inaktiv|geschlossen|stillgelegt|gekundigt|nicht (?:mehr )?aktiv'),
      near(THINGS_FR, 'desactiv|inacti[fv]|suspendu|ferme|cloture|resilie'),
      near(THINGS_ES, 'desactivad|inactiv|suspendid|deshabilitad|cerrad|cancelad'),
      near(THINGS_PT, 'desativad|inativ|suspens|bloquead|encerrad|cancelad'),
      near(THINGS_IT, 'disattivat|disabilitat|inattiv|sospes|chius|cessat'),
      near(THINGS_RU, 'заблокирован|отключен|неактивн|удален|приостановлен'),
      near(THINGS_PL, 'zablokowan|nieaktywn|zawieszon|wy.aczon|usunie|zamknie'),
      close(THINGS_JA, '停止|解約|利用できません|休止|無効になって'),
      close(THINGS_ZH, '停用|禁用|冻结|凍結|注销|锁定'),
    ),
    sample: 'rcpt 550 Das Postfach wurde deaktiviert',
  },
  {
    name: 'words: no such address',
    class: 'invalid-recipient',
    words:
      /(?:no such|unknown|invalid|illegal|nonexistent|non-existent|not a valid|bad)[^.]{0,20}(?:user|recipient|mail ?box|address|account|alias|person|subscriber|customer|local[ -]part)(?! domain)/,
    sample: 'rcpt 550 No such user here',
  },
  {
    name: 'words: address not found',
    class: 'invalid-recipient',
    words: near(
      'user|recipient|mail ?box|address|account|alias',
      'unknown|not (?:be )?(?:found|known|exist|listed|recognized|valid|registered|local)|does ?n.?t (?:exist|have an? (?:\\S{1,20} )?(?:account|mail ?box))|not.{0,3}exist|no longer|(?<!service )(?<!server )unavailable|undeliverable|invalid|nonexistent',
    ),
    sample: 'rcpt 550 The mailbox was not found',
  },
  {
    name: 'words: the address does not exist',
    class: 'invalid-recipient',
    words: any(
      /(?:^|[:;.] ?)(?:does ?n.?.?t exists?|does not exists?|is (?:unknown|not known))(?! (?:client|sender|host|domain|command|ip|error)\b)/,
      /\b(?:rcpt(?: to:?)?|(?<!your )e-?mail|login|customer|subscriber|person|member) (?:(?:is|was) )?(?:does ?n.?.?t exists?|does not exists?|not (?:exist|known|found)|unknown|nonexistent)/,
    ),
    sample: 'rcpt 554 Rcpt <x@there.test> does not exist',
  },
  {
    name: 'words: no mailbox',
    class: 'invalid-recipient',
    words:
      /nobody (?:here )?by that name|no mail ?box|unroute?able|nosuchuser|recipientnotfound|no one (?:here )?by that name/,
    sample: 'rcpt 550 Unrouteable address',
  },
  {
    name: 'words: no such address, other languages',
    class: 'invalid-recipient',
    words: any(
      near(
        THINGS_DE,
        'unbekannt|existiert nicht|gibt es nicht|nicht (?:bekannt|gefunden|vorhanden|eingerichtet|verf.{1,3}gbar)|ung.{1,3}ltig',
      ),
      /unbekannter? (?:empf|benutzer|adress|nutzer)|kein(?:e)? (?:solche[rs]? |derartige[rs]? )?(?:postfach|benutzer|empf|mailbox)/,
      near(THINGS_FR, 'inconnu|n.?.?existe pas|inexistant|introuvable|invalide|non valide'),
      /aucun(?:e)? (?:utilisateur|destinataire|boite)|(?:utilisateur|destinataire) inconnu/,
      near(THINGS_ES, 'desconocid|no existe|inexistente|no (?:se )?(?:ha )?encontr|no es valid|invalid'),
      near(THINGS_PT, 'desconhecid|nao existe|inexistente|nao (?:foi )?(?:encontrad|localizad)|invalid'),
      near(THINGS_IT, 'sconosciut|non esiste|inesistente|non (?:e stat[oa] )?trovat|non valid'),
      near('gebruiker|adres|geadresseerde|ontvanger|postvak', 'onbekend|bestaat niet|niet gevonden|ongeldig'),
      /onbekende? (?:gebruiker|ontvanger|adres|geadresseerde)/,
    ),
    sample: 'rcpt 550 Empfänger unbekannt',
  },
  {
    name: 'words: no such address, other scripts',
    class: 'invalid-recipient',
    words: any(
      near(THINGS_RU, 'не (?:существует|наиден|известен|зарегистрирован)|неизвест|недеиствител|отсутствует'),
      /нет такого (?:пользовател|ящик|адрес|получател)|неизвестн\S{1,3} (?:пользовател|получател)|несуществующ\S{1,3} (?:адрес|ящик|пользовател)/,
      near(THINGS_PL, 'nieznan|nie istnieje|nie znalezion|nieprawid.ow'),
      /nie ma takiego|brak (?:takiego )?(?:uzytkownika|odbiorcy|skrzynki)|nieznany (?:uzytkownik|odbiorca|adresat)/,
      close(THINGS_JA, '存在しません|存在しない|見つかりません|不明|ありません'),
      close(THINGS_ZH, '不存在|无效|無效|未找到|找不到|不正确'),
      /(?:查?无此|没有此|無此|沒有此)(?:用户|收件人|人|邮箱|用戶|帐号|账号)/,
    ),
    sample: 'rcpt 550 Пользователь не найден',
  },
  {
    name: 'words: no such domain',
    class: 'bad-domain',
    words:
      /no such domain|recipient domain[^.]{0,40}(?:unknown|not|invalid)|(?:this|that|the) domain[^.]{0,30}(?:not (?:hosted|served|one of ours|local|exist)|no longer|unknown)/,
    sample: 'rcpt 550 This domain is not hosted here',
  },
]

/**
 * Rules by less specific words, which servers also use for other reasons, mostly with a status code of
 * policy.
 */
export const VAGUE_ADDRESS_WORDS: readonly Rule[] = [
  {
    name: 'words: address rejected',
    class: 'invalid-recipient',
    statuses: ['none', '0.0', '1.', '2.', '3.', '4.', '5.', '6.'],
    words: near('user|recipient|mail ?box|address|account', 'rejected(?! your| the| this)'),
    sample: 'rcpt 550 5.1.0 Address rejected',
  },
  {
    name: 'words: policy',
    class: 'policy',
    words: any(
      /restriction:|relay|rcpthosts|not (?:permitted|allowed|authori[sz]ed|accepted)|denied|polic(?:y|ies)|prohibited|refused|rejected|administrat|authentication required|restricted|blocked/,
      /abgelehnt|verweigert|nicht erlaubt|refuse|interdit|rechazad|denegad|rejeitad|recusad|negad|rifiutat|negat|отклонен|запрещен|отказ|odrzucon|odmow|拒否|拒绝|拒絕|不允许/,
    ),
    sample: 'rcpt 550 Not permitted',
  },
]
