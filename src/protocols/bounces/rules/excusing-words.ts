/**
 * Rules by phrases about a temporary condition or one sender. They excuse the address, whatever the status
 * code says.
 */
import { any, close, near, type Rule } from './rule.ts'

export const EXCUSING_WORDS: readonly Rule[] = [
  {
    name: 'words: recipient blocks the sender',
    class: 'policy',
    phases: ['mail', 'rcpt', 'data', 'final-dot'],
    words:
      /no longer (?:accepts|wants?|wish(?:es)?)[^.]{0,30}\b(?:from|of) (?:you\b|your|this|the outside)|not (?:allowed|permitted|authori[sz]ed) to (?:send|write|post)(?: mail| messages?)? to\b|only allows|permission to post|(?:external|outside|unauthenticated|anonymous|other) senders?|only accepts|from (?:the )?(?:outside|external|internet)\b|has blocked|(?:blocked|rejected|refused) by (?:the |its )?(?:recipient|user)|(?:recipient|user) (?:has )?blocked|personal (?:block|black|deny)|(?:blocked|allowed) senders? list|sender.s (?:allow|white|block)/,
    sample: 'rcpt 550 5.7.1 This recipient no longer accepts mail of your domain',
  },
  {
    name: 'words: no relay',
    class: 'policy',
    detail: 'relay_denied',
    words: new RegExp(
      [
        'relay(?:ing)? (?:access |attempt )?(?:is )?(?:denied|refused|prohibited|not (?:permitted|allowed|authori[sz]ed))',
        'relaying [^.]{1,60}(?:denied|prohibited|not (?:permitted|allowed))',
        '(?:unable|not (?:permitted|allowed|authori[sz]ed)) to relay',
        '(?:do not|does not|don.t|doesn.t|can ?not|can.t|will not|won.t|no) relay(?:ing)?\\b',
        'not an? (?:open )?relay\\b|rcpthosts',
      ].join('|'),
    ),
    sample: 'rcpt 550 5.1.1 Relay access denied',
  },
  {
    name: 'words: greylisted',
    class: 'greylisted',
    words:
      /gr[ae]y[ -]?list|graue liste|listes? grise|listas? gris(?:es)?\b|lista cinza|list[ae] grigi[ae]|szar\S{1,3} list|греилист|сер\S{2,3} спис|グレ[ーイ]リスト|灰(?:色)?[名列]/,
    tryAgain: true,
    sample: 'rcpt 451 4.7.1 Greylisting in action, please come back in 00:05:00',
  },
  {
    name: 'words: greylisted (first contact)',
    class: 'greylisted',
    codes: ['4'],
    statuses: ['2.0', '7.1', '7.0', 'none'],
    words:
      /(?:first[ -]time|unknown|new) (?:sender|triplet|client)|not yet authorized to deliver|unbekannter (?:sender|absender).{0,40}spater|premier (?:contact|envoi)|primer (?:contacto|envio)|primo contatto/,
    sample: 'rcpt 451 4.7.1 First time sender, please try again',
  },
  {
    name: 'words: too many recipients',
    class: 'too-many-recipients',
    words: /too many (?:recipients|rcpt)|recipient limit|maximum (?:number of )?recipients/,
    tryAgain: true,
    oneRecipient: true,
    sample: 'rcpt 452 Too many recipients received this hour',
  },
  {
    name: 'words: recipient over rate limit',
    class: 'rate-limited',
    words:
      /(?:user|recipient|mailbox)[^.]{0,60}(?:receiving|gets|getting) mail (?:too (?:quickly|fast)|at a rate)|(?:user|recipient|mailbox)\b[^.]{0,40}(?:exceed|over)[^.]{0,40}(?:\brate\b|per (?:second|minute|hour|day)\b)/,
    oneRecipient: true,
    sample: 'rcpt 450 4.2.1 The user gets mail too quickly',
  },
  {
    name: 'words: rate limit (retry with less)',
    class: 'rate-limited',
    codes: ['5'],
    words:
      /(?:rate|frequency|hourly|connections?|message|sending) limit.{0,80}(?:try again|later|retry)|temporarily (?:deferred|rate|throttled|limited|suspended)|rate[^.]{0,20}try again|too much mail[^.]{0,20}(?:later|again)/,
    tryAgain: true,
    sample: 'rcpt 550 5.7.1 Hourly limit reached, try again later',
  },
  {
    name: 'words: rate limit',
    class: 'rate-limited',
    words:
      /rate[ -]?limit|\b(?:rate|frequency|volume|traffic)\b[^.]{0,30}(?:exceed|too (?:high|great|large)|reached|unusual)|(?:exceed|over|above|beyond)[^.]{0,40}(?:\brate\b|\bfrequency\b|per (?:second|minute|hour|day)\b|(?:hourly|daily) (?:quota|allowance|maximum))|too (?:many|much)\b[^.]{0,40}(?:per|this|last|past|an?|one) (?:second|minute|hour|day)\b|unusual(?:ly high)? (?:rate|volume|amount|number)|too high a (?:rate|volume)|mail (?:flood|bomb)|flooding|(?:fewer|less) (?:messages|mails?|e-?mails?|connections) per|too many (?:messages|e?-?mails|connections|requests|sessions|invalid|unknown|bad |errors|concurrent)|too (?:quickly|fast|much mail)|at a rate that|frequency limit|connections? limit|(?:hourly|daily|message|sending) limit|(?:maximum|concurrent) (?:number of )?(?:connections|sessions)|unexpected volume|server (?:is )?(?:too )?busy|throttl|slow down|resources? (?:temporarily )?(?:restricted|exhausted)|try again later.{0,40}rate/,
    sample: 'host 421 Too many connections from your host',
  },
  {
    name: 'words: rate limit, other languages',
    class: 'rate-limited',
    words: any(
      /zu viele (?:verbindungen|nachrichten|mails|e-mails|anfragen|sitzungen)|trop de (?:connexions|messages|requetes|mails)|demasiad[ao]s (?:conexiones|mensajes)|muitas (?:conexoes|mensagens)|(?:limite|excesso) de (?:conexoes|mensagens|connexions|conexiones)|tropp[ei] (?:connessioni|messaggi)/,
      /слишком (?:много|часто)|zbyt (?:wiele|duzo|czesto)|(?:接続|送信).{0,6}(?:多すぎ|制限|上限)|(?:连接|連線|发送|發送)(?:数)?.{0,6}(?:过多|過多|频率|頻率|限制|超)/,
    ),
    sample: 'host 421 Zu viele Verbindungen von Ihrem Host',
  },
  {
    name: 'words: a link in the message is listed',
    class: 'spam',
    words: /(?:surbl|uribl)|(?:url|link|body|content)[^.]{0,40}(?:listed|black ?list|block ?list|reputation)/,
    sample: 'final-dot 554 5.7.1 A link of this message is listed at multi.surbl.org',
  },
  {
    name: 'words: banned file',
    class: 'attachment',
    words: /banned (?:file|content|attachment|name|extension)|- banned:/,
    sample: 'final-dot 554 5.7.0 Reject, id=1-2 - BANNED: .exe',
  },
  {
    name: 'words: listed or poor reputation',
    class: 'blocked',
    words:
      /blocked using|block ?-?list|black ?-?list|deny ?-?list|spamhaus|spamcop|barracudacentral|sorbs\b|uceprotect|abusix|dnsbl|\brbl\b|(?<!not )listed (?:in|on|at|by)|reputation|banned|sender ?score|senderbase|bad (?:ip|host)\b|\b(?:ip|(?<!sender )(?<!recipient )(?<!mail )address|host|network|connection)\b[^.]{0,40}(?:is |been |was )?blocked/,
    sample: 'rcpt 554 5.7.1 Service unavailable; client host [192.0.2.1] blocked using zen.spamhaus.org',
  },
  {
    name: 'words: client address refused',
    class: 'blocked',
    phases: ['host'],
    words:
      /client host rejected|\b(?:ip|client|host|network)(?: ip)?(?: address)?[^.]{0,24}(?:rejected|refused|denied|not (?:be )?(?:allowed|accepted|authori[sz]ed))|\bip (?:denied|rejected|refused)|not allowed to connect|country|bad (?:network|client|ip)|connection (?:rejected by policy|not accepted)|mail refused/,
    sample: 'host 554 5.7.1 You are not allowed to connect',
  },
  {
    name: 'words: refers to the client address',
    class: 'policy',
    words:
      /(?<!name server: )\b(?:ip|client|host|network)(?: ip)? address[^.]{0,24}(?:not|no longer|invalid|denied|rejected|refused)|(?:unknown|invalid|bad|unauthori[sz]ed) (?:client|ip|network)\b|unauthori[sz]ed host|unknown host ?name for|your ip[^.]{0,24}not (?:allowed|accepted|whitelisted)|your network|(?:mx|domain)[^.]{0,12} for your/,
    sample: 'rcpt 550 5.7.1 Unknown client IP address',
  },
  {
    name: 'words: reverse DNS missing',
    class: 'blocked',
    detail: 'no_reverse_dns',
    words:
      /reverse (?:dns|lookup|hostname|name)|\bptr\b|\brdns\b|\bfcrdns\b|cannot find your (?:reverse )?hostname|dynamic(?:ally)? (?:assigned |allocated )?(?:ip|address|host)|dial-?up|generic (?:host ?)?name/,
    sample: 'rcpt 450 4.7.1 Client host rejected: cannot find your reverse hostname',
  },
  {
    name: 'words: listed, other languages',
    class: 'blocked',
    words: any(
      /(?:sperr|block|schwarz)(?:e |en |er )?liste|\bip\b[^.]{0,40}(?:gesperrt|blockiert|gelistet|bloque|bloccat|blokovan)|listes? noires?|adresse ip[^.]{0,40}(?:bloqu|refus|liste)|listas? (?:negra|de bloqueo|de bloqueio)|lista nera|czarn\S{1,3} li[sś]/,
      /черн\S{1,4} спис|ip[^.]{0,40}заблокирован|\bip[^。.]{0,12}(?:拒否|拒绝|拒絕|封)|ブラックリスト|ブロックリスト|拒否リスト|黑名[单單]/,
    ),
    sample: 'host 554 Ihre IP-Adresse ist gesperrt',
  },
  {
    name: 'postfix: sender is refused',
    class: 'sender',
    words: /sender address rejected:(?!.{0,100}\b(?:spf|dkim|dmarc))/,
    sample: 'rcpt 550 5.1.1 Sender address rejected: mailbox is full',
  },
  {
    name: 'postfix: host or command is refused',
    class: 'policy',
    words: /(?:client host|helo command|data command|end-of-data) rejected:/,
    sample: 'rcpt 550 Client host rejected: user unknown',
  },
  {
    name: 'words: mailbox full',
    class: 'mailbox-full',
    words:
      /(?:mail ?|in)?box(?: (?:of|for) [^.]{1,80}?)?(?: is)? (?:too |currently )?full\b|full mail ?box|(?:over|exceed\S{0,3}|above|beyond)[^.]{0,30}quota|over-?quota|quota[ -]?(?:is |has been |was )?(?:exceeded|exceeds|limit|exhausted|full|violat|reached)|quotaexceeded|(?:out of|not enough|no(?: more)?|insufficient|lacks|(?:not|n.t) have(?: enough| sufficient| any)?|too little) (?:(?:free|available|disk|mailbox|storage) ){0,2}(?:storage|space|room|quota)\b|(?:storage|disk) is full|storage full|(?:storage|mailbox|disk) (?:allocation|limit|quota|size limit)|no (?:space|room) left|mailbox[^.]{0,30}exceed|account is full/,
    sample: 'rcpt 550 Mailbox full',
  },
  {
    name: 'words: mailbox full, other languages',
    class: 'mailbox-full',
    words: any(
      near('postfach|mailbox|briefkasten|speicher', 'voll\\b|uberfullt|uberschritten|erschopft|erreicht'),
      near('boite|bal', 'plein|sature'),
      near('postvak|mailbox|postbus', 'vol\\b'),
      near('buzon|bandeja', 'llen[oa]'),
      near('caixa', 'chei[ao]|lotad[ao]'),
      near('casella|mailbox', 'pien[oa]|esaurit'),
      near('ящик', 'переполнен|полон'),
      near('skrzynk', 'pe.n[aey]|przepe.nion'),
      near('quota|cuota|cota|kontingent|квот', 'depass|atteint|excedid|superad|ultrapassad|superat|превыш'),
      /превыш\S{0,4} (?:квот|лимит\S{0,2} ящик)/,
      near('speicher', 'nicht (?:genug|genugend|ausreich)|nicht mehr'),
      /nicht (?:genug|genugend|ausreichend) (?:freier )?(?:speicher|platz)|(?:pas assez|plus assez|manque) (?:d.espace|de place)|espace (?:disque )?insuffisant|no (?:tiene|hay) (?:suficiente )?espacio|espacio insuficiente|sem espaco|espaco insuficiente|spazio (?:insufficiente|esaurito)|spazio non (?:e )?sufficiente|недостаточно места|brak miejsca|onvoldoende ruimte|geen ruimte/,
      close('メールボックス|受信箱|受信容量|容量', 'いっぱい|一杯|満杯|オーバー|超え|超過'),
      close('邮箱|信箱|郵箱|邮件容量|容量|空间', '满|滿|不足|超出|超过|超過'),
    ),
    sample: 'rcpt 552 Das Postfach des Empfängers ist voll',
  },
  {
    name: 'postfix: restriction on the client or sender',
    class: 'policy',
    words:
      /restriction: (?!undeliverable address|.{0,40}\b(?:unknown (?:user|recipient|mail ?box)|(?:user|recipient|mail ?box) (?:is )?unknown|no such)).{0,100}?(?:temporar|internal|configuration|maintenance|(?:system|server|database|software|look-?up) (?:error|failure|failed|problem)|try (?:again|later)|retry|\blater\b|denied|polic(?:y|ies)|prohibited|not (?:allowed|permitted|authori[sz]ed|accepted)|refused|\bblocked|restrict|administrative|abuse|go away|rejected)/,
    sample: 'rcpt 550 5.1.1 Recipient address rejected: Access denied',
  },
  {
    name: 'words: transient condition with a permanent code',
    class: 'unknown',
    codes: ['5'],
    words:
      /temporar(?:y|ily)\b|look-?up failed(?!: no such)|(?:recipient|address|mail ?box|user) (?:check|callout|verification) failed(?! for)|maintenance|server unavailable|\binternal (?:\S{1,12} )?(?:error|failure|problem)|(?:(?<!mail )system|server|configuration|database|software|ldap|mysql|sql|backend|unexpected) (?:error|failure|problem|trouble)s?(?!\S| (?:from|was|returned|code|message))/,
    sample: 'rcpt 550 The mailbox is temporarily unavailable',
  },
  {
    name: 'words: authentication of the sender',
    class: 'authentication',
    words:
      /\b(?:open)?spf\b|\bdkim\b|\bdmarc\b|unauthenticated|authentication level|authentication (?:checks?|results?|fail)/,
    sample: 'final-dot 550 5.7.1 Fails the DMARC policy of its domain',
  },
]
