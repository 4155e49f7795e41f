/**
 * What replies say of their subjects, by language: phrases in the form that `clausesOf` returns. An
 * expression has no repetition without a bound.
 */

/**
 * - `absent`, `gone`: there is no such thing, or no longer.
 * - `nobody`, `left`: the same of a recipient that only the phrase names.
 * - `undelivered`: says of the recipient that it is absent, and nothing of anything else.
 * - `failed`: refused or not verified.
 * - `down`: out of order.
 * - `negated`: any other negation.
 */
export type Assertion = 'absent' | 'gone' | 'nobody' | 'left' | 'failed' | 'down' | 'negated' | 'undelivered'

interface Predicate {
  claim: Assertion
  phrase: RegExp
}

/** Nouns for where the recipient is not found, with what may stand before them. */
const PLACE =
  '(?:(?:the|this|that|our|my|any|its|local|global|e?mail|user|recipient|virtual|relay|routing|active|valid|address|alias|account|customer|post|internal|mailbox|member|bounce|server|system|ldap|destination|remote|target|recipient|domino|active|public|names?) ){0,5}(?:servers?|hosts?|backends?|systems?|machines?|domains?|sites?|director(?:y|ies)|databases?|tables?|maps?|relays?|gateways?|organi[sz]ation|company|tenant|ldap|nodes?|cluster|platform|network|installation|mailservers?|books?|office|firm|school|university|place|provider|services?|filters?|department|destination|environment|(?:recipient|user|address|mailbox) list|@todomain|@host)'
const PEOPLE =
  '(?:users|members|customers|subscribers|recipients|addresses|mailboxes|accounts|employees|students|people|clients)'
const MAILBOX =
  '(?:account|address|box|user|recipient|mailbox|id|inbox|alias|adress\\p{L}*|kont\\p{L}*|postf\\p{L}*|adres\\p{L}*)'
const MAIL =
  '(?:e?mail|correo(?: electronico)?|correio(?: eletronico)?|posta(?: elettronica)?|messagerie|courriel|electronique)'

/** Phrases that do not matter to whom a clause is about, and what to put in their place. */
export const HARMLESS: readonly (readonly [RegExp, string])[] = [
  [
    words(
      `(?:electronic )?(?:e?mail|group|shared)(?= ${MAILBOX})`,
      `(?<=(?:adres(?:se?)?|boite|compte|cuenta|direccion|casilla|buzon|conta|caixa|endereco|indirizzo|casella|account) )(?:(?:de|di|d) )?${MAIL}`,
      '(?:that |which |who |whom |to which |to whom )?you (?:(?:are|were|have|had|just) ){0,2}(?:(?:try|tried|trying|attempt\\p{L}*|want\\p{L}*|wish\\p{L}*|intend\\p{L}*) to (?:reach|contact|write to|e?mail|send (?:\\p{L}+ ){0,3}to|deliver to)|(?:writ(?:e|ing|ten)|wrote|sen(?:d|t|ding)|mail(?:ed|ing)|addressed)(?: (?:this|the|a|your) (?:message|e?mail))? to|mailing|looking for|specified|entered|typed|provided|gave|supplied|addressed|requested|named)',
      '(?:die|den|das) sie (?:\\p{L}+ )?(?:suchen|anschreiben|meinen|(?:angegeben|angeschrieben|eingegeben|genannt) haben)|von ihnen(?: \\p{L}{3,30}(?:te|ene)[nrsm]?(?= ))?|(?:die|dat|dien) u (?:zoekt|probeert te bereiken|heeft (?:ingevoerd|opgegeven))|an (?:die|den|das) sie (?:schreiben|senden)(?: wollen| mochten)?',
      '(?:que|auquel|a qui) vous (?:avez (?:indique\\p{L}*|saisi\\p{L}*)|(?:essayez|tentez) de (?:contacter|joindre)|ecrivez)',
      '(?:a )?(?:la |el )?que (?:usted )?(?:intenta|trata de|quiere) (?:escribir|contactar|enviar)',
      '(?:of|for) (?:your|the|this) (?:message|mail|email|letter|mm)',
      'for (?:good|ever)|forever|once and for all',
      'your(?= (?:intended |envelope )?(?:recipient|addressee|correspondent))|(?:ihre?n?|votre|uw)(?= (?:empfanger|destinat\\p{L}*|correspondant|ontvanger))',
      '(?:matching )?(?:directory|database|ldap|table)(?= (?:entry|entries|records?|match))',
      'in (?:january|february|march|april|may|june|july|august|september|october|november|december)',
      'to (?:submit|send)(?: e?mails?| messages?)?',
      '(?:this|the|your) (?:message|mail|email) was (?:sent|addressed) to|a la que se envio este mensaje|a cui e stato inviato il messaggio|para a qual esta mensagem foi enviada|waaraan dit bericht is verzonden|giving up on(?: @\\p{L}+)?|(?:remote )?(?:host|server)(?: @\\p{L}+)? (?:said|replied|answered)(?= \\p{N})|(?:on|at|by) @ip|left no (?:forwarding )?address|to another \\p{L}+|we deliver(?: mail)? (?:for|to)',
      '(?:address )?verification failed for(?= @to)',
      'by (?:the |an? |its |his |her |their |our )?(?:system |mail |site |account |mailbox )?(?:administrators?|owner|user|holder|hoster)|(?:on|at|upon) (?:the |his |her )?request|(?<!blocked )(?:due to|because of|for) (?:\\p{L}+ )?(?:inactivity|non ?use|age|disuse|violation|abuse|breach|non ?payment)(?: of (?:our|the) \\p{L}+)?|auf (?:eigenen )?wunsch(?: des \\p{L}+)?|(?:wegen|nach) (?:\\p{L}+ )?inaktivitat|(?:pour (?:cause d )?|suite a (?:une )?)inactivite(?: prolongee)?|por (?:falta de uso|inactividad|inatividade)|per inattivita|a (?:la )?(?:demande|peticion|richiesta|pedido) d\\p{L}+ \\p{L}+',
    ),
    '',
  ],
  [words(`(?:one|any|none|some)(?: one)? of (?:any of )?(?:our|the|my|its) (?:\\p{L}+ )?${PEOPLE}`), '@one'],
  [
    words(
      `(?:in|on|from|among|against|with) (?:the |our |my |any )?(?:list of )?(?:our |the |all )?(?:known |valid |registered )?${PEOPLE}`,
      `(?:in|on|at|to|by|with|within|from|of|against|under|inside|for) ${PLACE}`,
      '(?:in|im|auf|bei|an|unter) (?:\\p{L}+ )?(?:organisation|domino verzeichnis|server|system|verzeichnis|domain|domane|unternehmen|firma|rechner)|(?:auf|in) (?:diesem|unserem) \\p{L}{0,12}(?:server|system)',
      '(?:sur|dans|de|chez|a) (?:ce |cette |notre |l )?(?:serveur|systeme|annuaire|domaine|societe|entreprise|organisation|base)',
      '(?:en|de|no|na|em|nesse|neste|in|su|sul|nel|nella|nell|nei|dal|dalla|del|do|da) (?:este |esta |nuestro |el |la |nosso |nossa |questo |questa |nostro |nostra |nostri )?(?:servidor|sistema|sistemi|directorio|dominio|empresa|server|azienda|diretorio|compania|organizacion|organizacao|organizzazione)',
      '(?:op|in|bij) (?:deze |onze |dit |ons |het |de )?(?:server|systeem|domein|bedrijf|organisatie)',
      '(?:на|в) (?:этом |данном |нашем |нашеи )?(?:сервере|системе|домене|компании|организации)',
      '(?:na|w) (?:tym |naszym |tej |naszej )?(?:serwerze|systemie|domenie|firmie)',
    ),
    '@here',
  ],
  [
    /^(?:(?:the|your|this|any) )?(?:message|e?mail|delivery|letter)s? (?:to|for) | (?:after|since) (?:@?\p{L}{1,30} ){0,3}@?\p{L}{1,30}$/gu,
    '',
  ],
  [
    /^(?:(?:the|this|our|my|remote|destination|mail) ){0,3}(?:server|mailserver|system|host|site|directory|domain)(?: @here)? (?=(?:has|have|had|does|did|could|can|was|is|knows) (?:no|not|never|unable)\b(?! (?:exist|respond|found|known)))/gu,
    '',
  ],
  [
    /^(?:(?:this|that|the) )?e?mail (?=(?:does|is|was|has|could|can) )|(?<!\p{L})(?:correo|courriel|e?mail) (?=@to)|(?<!\p{L})(?:email|correo electronico|correio eletronico) (?=.{0,30}(?:n existe|no existe|nao existe|non esiste|inexist|inesist|nonexist|cadastrad|registrad|enregistre|registrat|unbekannt|onbekend|inconnu|introuvable|desconoc|descon|sconosc))/gu,
    '@to ',
  ],
]

const ENGLISH: readonly Predicate[] = [
  of('failed', '(?:unknown|unspecified) (?:error|reason|problem|failure|cause)(?! \\p{N})'),
  of(
    'nobody',
    '(?:nobody|no ?one|noone)(?! (?:may|can|but|else|except))|not (?:someone|somebody|anyone|anybody)|(?:no valid recipients?|all (?:the )?recipients (?:are|were) (?:invalid|unknown))(?! in)',
  ),
  of(
    'left',
    'left (?:us(?!\\p{L})|(?:the |our |this )(?:company|organi[sz]ation|firm|school|university|institution|team|business|department))|(?<=(?:employee|person|user|colleague|student|@to) (?:has |have |had )?)left(?! (?:no|you|your|an?|this|that|it|for|for good)(?!\\p{L}))(?: \\p{L}+){0,3}',
    '(?:resigned|passed away|deceased|graduated)(?: from \\p{L}+)?',
    'no longer (?:with us|@here|works?(?: for us| here| @here)?|employed|part of (?:\\p{L}+ ){0,2}\\p{L}+)',
    '(?:works?|working|employed|live|with us|part of (?:our|the) \\p{L}+) (?:\\p{L}+ )?not anymore',
    'not (?:work|live|working|employed|with us) (?:\\p{L}+ ){0,3}anymore',
    'quit (?:the|our|this) \\p{L}+',
  ),
  of(
    'gone',
    'no longer (?:in use|active|used|monitored|maintained|serviced|(?:accept(?:s|ing)?|receiv(?:es?|ing))(?: any| new)?(?: e?mails?| messages?)?(?! (?:from|of))|in (?:service|operation)|deliver(?:s|ed|able)?|supported|operational)',
    'not (?:be )?(?:used|active|work|in (?:use|service|operation))(?: anymore)?|not operational|not accept mail anymore',
    'went away|deprovisioned|withdrawn|changed (?:his|her|their|the) address|blocked (?:due to|for|after) (?:\\p{L}+ ){0,3}inactivity|disabled|inactive|deactivated|discontinued|shut ?down|terminated|suspended|expired|deleted|removed|erased|purged|retired|decommissioned|archived|abandoned|cancell?ed|wound (?:up|down)|obsolete|dissolved|dormant|closed|out of use|ceased|former|defunct|moved(?: away)?',
  ),
  of(
    'absent',
    '(?:not|never) (?:(?:be|been|get|able to|actually|currently|yet) ){0,2}(?:found|find|locate[d]?|know[n]?|list(?:ed)?|recogni[sz]ed?|register(?:ed)?|present|valid|local|identif(?:y|ied)|resolved?(?: to)?|existent|exist(?:ed|s|ing)?|serve[d]?|host(?:ed)?|handled?|match(?:ed|es)?|assigned|mapped|associated|defined|activated|allocated|issued|enabled|created|set up|provisioned|have|listed|configured)',
    'no longer (?:exists?|valid|known|there|present|available|has|have|holds|found|registered|listed|recogni[sz]ed)',
    'not (?:@one|@here|here|with us|available @here)',
    'unable to (?:find|locate|identify|recogni[sz]e|match|resolve)',
    'failed to (?:find|locate|identify)',
    'unavailable|(?<!temporarily )not available',
    'not (?:an?|any|our|the|my)',
    'has no (?:mx|address record|mail exchanger)',
    'no such',
    'unknown|invalid|illegal|nonexist\\p{L}*|inexist[ae]nt|unrecogni[sz]ed|bad|wrong|missing|zero',
  ),
  of('down', 'corrupt(?:ed)?|broken|dead|down|offline|unreachable|not (?:reachable|respond\\p{L}*|running)'),
  of('undelivered', 'undeliverable|unroute?able'),
  of(
    'failed',
    '(?<!(?:address|recipient|delivery) )(?:failed|rejected|refused)|denied|blocked|forged|not (?:allowed|permitted|welcome|accepted|trusted|verified)',
  ),
]

const GERMANIC: readonly Predicate[] = [
  of('failed', 'hat (?:\\p{L}+ ){1,3}(?:gesperrt|blockiert)|heeft (?:\\p{L}+ ){1,3}geblokkeerd'),
  of('nobody', 'niemand\\p{L}{0,3}'),
  of(
    'left',
    'nicht (?:mehr|langer) (?:\\p{L}+ ){0,5}(?:tatig|beschaftigt|angestellt)',
    'arbeitet (?:\\p{L}+ ){0,3}nicht mehr',
    '(?:werkt|woont) (?:\\p{L}+ ){0,2}niet meer',
    '(?:unternehmen|firma|haus) verlassen|verzogen|ausgeschieden|nicht mehr (?:bei uns|@here|im haus)',
  ),
  of(
    'gone',
    'abgemeldet|deaktiviert\\p{L}*|stillgelegt|gesperrt\\p{L}*|inaktiv\\p{L}*|geschlossen\\p{L}*|stillgelegt\\p{L}*|geku?e?ndigt\\p{L}*|gelo?e?scht\\p{L}*|entfernt|abgeschaltet|aufgelo?e?st|abgelaufen|archiviert|erloschen|nicht (?:mehr )?(?:aktiv|genutzt|verwendet|benutzt|in (?:betrieb|gebrauch|verwendung|benutzung))',
    'opgeheven|gesloten|verwijderd|geblokkeerd|inactief|gedeactiveerd|uitgeschakeld|opgezegd|afgesloten|beeindigd|gestopt|vervallen|niet (?:meer )?(?:actief|in gebruik|in dienst)',
  ),
  of(
    'absent',
    'besteht nicht(?: mehr)?|existier\\p{L}*(?: \\p{L}+){0,3} nicht(?: mehr)?|existier\\p{L}* nicht',
    'nicht (?:mehr )?(?:bekannt|gefunden|vorhanden|eingerichtet|verfu?e?gbar|registriert|(?:auf)?gelistet|existiert|existent|auffindbar|angelegt|ermittelt|zugeordnet|gultig|gueltig|vergeben|belegt|erreichbar|zustellbar|geschaltet|hinterlegt|gefuhrt|gemeldet)',
    'gibt es (?:\\p{L}+ ){0,3}nicht(?: mehr)?|gibt es nicht',
    'kennen (?!sie )(?:\\p{L}+ ){0,3}nicht|(?:finden|haben) (?!sie )(?:\\p{L}+ ){0,3}nicht',
    'unbekannt\\p{L}*|ungu?e?ltig\\p{L}*|inexistent\\p{L}*|unzustellbar',
    '(?:gibt es )?kein(?:e[nmrs]?)?',
    'best(?:aat|aan) (?:\\p{L}+ ){0,3}niet(?: meer)?',
    'niet (?:meer )?(?:gevonden|bekend|aanwezig|geregistreerd|bestaand|geldig|beschikbaar|in gebruik genomen|toegewezen)',
    'kennen (?:wij |we |u )?(?:\\p{L}+ ){0,3}niet|vinden (?:\\p{L}+ ){0,3}niet',
    'onbekende?|ongeldige?|geen',
  ),
  of(
    'failed',
    'abgelehnt|abgewiesen|verweigert|nicht (?:erlaubt|zugelassen|angenommen)|geweigerd|niet toegestaan',
  ),
]

const ROMANCE: readonly Predicate[] = [
  of(
    'left',
    'ne (?:travaille|fait) plus (?:chez nous|ici|@here|partie (?:de |du |des )?(?:l |notre |nos )?\\p{L}+)|n est plus (?:employee?|chez nous|parmi nous)|a quitte (?:la societe|l entreprise|notre societe|nous)',
    'ya no (?:trabaja|labora|pertenece|forma parte)(?: (?:en|a|de) (?:la |esta |nuestra )?\\p{L}+)?',
    '(?:nao trabalha mais|nao trabalha|nao faz mais parte(?: (?:da|do) \\p{L}+)?(?: @here)?)',
    'non lavora piu|non fa piu parte (?:della |dell )?(?:nostra )?\\p{L}+|ha lasciato (?:l |la |la nostra )?\\p{L}+',
  ),
  of(
    'gone',
    'n est plus (?:\\p{L}+ )?(?:utilise|active?|actif|valide|employe|en service)\\p{L}*',
    'n est pas acti(?:f|ve)',
    'ya no (?:esta |es )?(?:\\p{L}+ )?(?:usa|uso|utiliza|activ[oa]|valid[ao]|vigente|funciona|en uso)',
    'nao (?:\\p{L}+ )?mais (?:em uso|ativ[oa]|utilizad[oa])',
    'non (?:e )?piu (?:attiv|in uso|utilizzat|valid|impiegat|qui|con noi)\\p{L}*',
    'desactivee?s?|inacti(?:f|ve)s?|suspendue?s?|fermee?s?|cloturee?s?|resiliee?s?|supprimee?s?|archivee?s?|resilie\\p{L}*|effacee?s?|detruite?s?|annulee?s?|expiree?s?',
    '(?:desactivad|inactiv|suspendid|deshabilitad|cerrad|cancelad|eliminad|borrad|desativad|inativ|suspens|bloquead|encerrad|excluid|removid|apagad|deletad|desligad|expirad|disattivat|disabilitat|inattiv|sospes|chius|cessat|cancellat|eliminat|rimoss|dismess|scadut|desabilitad|dado de baix|deshabilitad|suprimid|anulad|clausurad|extint|terminad|archiviat)[aoei]s?|dad[oa] de baja',
  ),
  of(
    'absent',
    'n existe\\p{L}* (?:pas|plus)',
    'n est (?:pas|plus) (?:valide|connue?|reconnue?|enregistree?|repertoriee?|attribuee?|referencee?|disponible|joignable|configuree?|declaree?)',
    'n a plus(?: (?:de?|son))?|n a pas (?:ete|pu etre) (?:trouve|localise|cree|reconnu|identifie|attribue)\\p{L}*|(?:impossible|pas pu|pas possible) de trouver',
    '(?:ne )?correspond(?:ant)?(?: pas)?(?: a)? aucune?|ne correspond(?: pas)?|aucune?',
    'non trouvee?s?|n y a pas|n avons (?:pas|plus|aucune?)|ne (?:connaissons|trouvons|reconnaissons) (?:pas|aucune?)|pas de?',
    '(?:ya )?no existen?(?: mas)?|no hay(?: ningun[oa]?)?',
    'no (?:se |encuentra |ha |fue |pudo |puede |sido |ser |esta |es |figura |tiene ){0,3}(?:encontr|localiz|reconoc|registrad|conocid|valid|hall)\\p{L}*|no (?:encontramos|conocemos|localizamos|tenemos|reconocemos|aparece|figura)n?(?: a)?|no (?:corresponde|pertenece) a ningun[ao]?|sin (?:usuario|buzon|cuenta) asociad[ao]|ningun[ao]?',
    '(?:ja )?nao existem?(?: mais)?|nao ha',
    'nao (?:encontramos|conhecemos|localizamos|temos|reconhecemos|consta|(?:corresponde|pertence) a nenhum[ao]?)|nao (?:foi |pode |ser |esta |e ){0,3}(?:encontrad|localizad|reconhecid|cadastrad|registrad|conhecid|valid)\\p{L}*',
    'non esiston?o?(?: piu)?|non esiste(?: piu)?',
    'non (?:e |e stat[oa] |risulta |risultano |corrisponde ){0,2}(?:trovat|presente|attiv|esistente|disponibil|assegnat|abilitat|riconosciut|registrat|valid|conosciut|censit)\\p{L}*|non (?:abbiamo|conosciamo|troviamo|corrisponde|appartiene)|non risultan?o?',
    'nessun[oa]?(?: \\p{L}+ corrisponde)?|nenhuma?',
    'inconnue?s?|inexistante?s?|introuvables?|invalides?|incorrecte?s?|erronee?s?|non valides?',
    '(?:desconocid|invalid|desconhecid|sconosciut|incorret|incorrect|errat)[aoie]s?',
    'inexistentes?|inesistent[ei]|no valid[ao]s?|non valid[aoei]|nao valid[ao]s?|invalide',
  ),
  of(
    'failed',
    'refuse(?:e|s|es)?|rejetee?s?|bloquee?s?|interdite?s?|rechazad[ao]s?|rejeitad[ao]s?|recusad[ao]s?|bloquead[ao]s?|rifiutat[aoei]|no permitid[ao]s?',
  ),
]

const FURTHER: readonly Predicate[] = [
  of(
    'absent',
    '(?:bulunamad[iı]|bulunmuyor|mevcut degil|yok(?:tur)?|gecersiz|bilinmeyen|tan[iı]ms[iı]z)',
    'finn?e?s (?:\\p{L}+ ){0,2}(?:inte|ikke)(?: langre| laengere| lenger)?|eksisterer ikke|existerar inte|hittades inte|(?:blev |ble )?ikke (?:fundet|funnet)|(?:ar |er )?ok[aj]e?n[dt]|ukendt|ukjent|ogiltig|ugyldig',
    'neexistuje|nebyl[ao]? nalezen\\p{L}*|neni znam\\p{L}*|nezname?\\p{L}{0,2}|neznam\\p{L}{0,2}|neplatn\\p{L}{0,2}|neni (?:\\p{L}+ )?(?:zarizen|registrovan|evidovan)\\p{L}*',
  ),
  of(
    'gone',
    'avslutat|avslutad|borttagen|stangt|nedlagt|slettet|lukket|deaktiver\\p{L}*|zrusen\\p{L}*|smazan\\p{L}*|zablokovan\\p{L}*|deaktivovan\\p{L}*',
  ),
]

const SLAVIC: readonly Predicate[] = [
  of('nobody', 'никто', 'nikt(?: nie)?'),
  of('left', 'не работает', 'уволился|покинул (?:компанию|организацию)', '(?:juz )?nie pracuje|odszedl'),
  of(
    'gone',
    'заблокирован\\p{L}*|отключен\\p{L}*|неактивн\\p{L}*|удален\\p{L}*|приостановлен\\p{L}*|закрыт\\p{L}*|аннулирован\\p{L}*|ликвидирован\\p{L}*|деактивирован\\p{L}*|уволен\\p{L}*|больше не (?:используется|работает|активен)',
    'zablokowan\\p{L}*|nieaktywn\\p{L}*|zawieszon\\p{L}*|wylaczon\\p{L}*|usuniet\\p{L}*|zamkniet\\p{L}*|skasowan\\p{L}*|zlikwidowan\\p{L}*|wygas\\p{L}*|dezaktywowan\\p{L}*',
    '(?:juz )?nie jest (?:juz )?(?:uzywan|aktywn)\\p{L}*',
  ),
  of(
    'absent',
    'не (?:существу\\p{L}*|наиден\\p{L}*|извест\\p{L}*|зарегистрирован\\p{L}*|обнаружен\\p{L}*|значится|числится|удалось наити|знаем|нашли|наидено|принадлежит|обслуживается|деиствителен|действительн\\p{L}*)',
    'отсутству\\p{L}*|нет',
    'неизвест\\p{L}*|недеиствительн\\p{L}*|несуществующ\\p{L}*|неверн\\p{L}*',
    'nie (?:istnieje|istnieja|znaleziono|znamy|mamy|znajdujemy|nalezy|jest (?:zarejestrowan|zdefiniowan|prawidlow|poprawn)\\p{L}*|mozna znalezc|figuruje|odnaleziono|jest znan\\p{L}*)',
    'nie zosta\\p{L}* (?:od|z)nalezion\\p{L}*',
    'nie ma|brak',
    'nieznan\\p{L}*|nieprawidlow\\p{L}*|nieistniejac\\p{L}*|bledny',
  ),
  of('failed', 'отклонен\\p{L}*|запрещен\\p{L}*|отвергнут\\p{L}*|odrzucon\\p{L}*|odmowion\\p{L}*'),
]

export const PREDICATES: readonly Predicate[] = [
  ...ENGLISH,
  ...GERMANIC,
  ...ROMANCE,
  ...SLAVIC,
  ...FURTHER,
  of('negated', 'not|never|nicht|nie|ne|pas|non|nao|niet|не'),
  of(
    'absent',
    '(?:found |matches |knows )?no(?: longer an?)?(?= (?:\\p{L}+ ){0,3}(?:localpart|users?|username|recipients?|mailbox(?:es)?|box|accounts?|address(?:es)?|addressee|alias|customer|employee|person|login|subscriber|member|records?|entry|match|@to|domain|hosts?|servers?|mx|ptr|dns|rdns|reverse|senders?)(?: |$))',
  ),
]

/** Words for a state that will end. */
export const PASSING = words(
  'temporar(?:y|ily)|later|tomorrow|until|for now|for the (?:moment|time being)|at (?:the|this) moment|at present|right now|currently|in a (?:moment|while|minute|few|bit)|shortly|soon|maintenance|in progress|pendant|wahrend|durante|tijdens|во время|podczas|migrat\\p{L}*|umzug\\p{L}*|(?:is|are) under way|paused|pending|yet|weekend|during|today|tonight|overnight|this (?:week|month)|security|(?:after|in|for) \\d{1,3} ?(?:h|hrs|d|m)|on vacation|till|not yet|replicat\\p{L}*|propagat\\p{L}*|sync\\p{L}*|quota|storage|(?:not |un)available now|holidays?|from \\d{1,2} (?:to|until)|back on|will (?:then )?be (?:back|reopened|enabled|reactivated|active|available|restored)|wait (?:for|until|an?|some|\\d{1,5})|(?:in|after|within|for|next) (?:the next |about )?(?:\\d{1,5}|an?|one|two|few|some) ?(?:s|sec|min|seconds?|minutes?|hours?|days?|weeks?)',
  'vorubergehend\\p{L}*|voruebergehend\\p{L}*|vorlaufig\\p{L}*|zeitweilig|zeitweise|spater|spaeter|bis (?:morgen|auf weiteres|montag|\\d+)|momentan|derzeit|zur zeit|zurzeit|gerade|sicherheitsgrund\\p{L}*|wartung\\p{L}*|in (?:\\d{1,5}|einer|einigen) (?:minuten?|stunden?|tagen)',
  'temporaire\\p{L}*|provisoire\\p{L}*|momentanee?\\p{L}*|plus tard|ulterieur\\p{L}*|actuellement|securite|pour l(?:e|a)? ?(?:moment|instant)|en ce moment|jusqu\\p{L}*|dans \\d{1,5} (?:minutes?|heures?|jours?)',
  'temporal\\p{L}*|mas tarde|hasta|manana|mantenimiento|por (?:el momento|ahora)|de momento|actualmente|seguridad|provisional\\p{L}*|(?:en|dentro de) \\d{1,5} (?:minutos?|horas?|dias?)',
  'temporari\\p{L}*|mais tarde|ate (?:amanha|\\d+)|amanha|manutencao|no momento|atualmente|seguranca|provisori\\p{L}*|em \\d{1,5} (?:minutos?|horas?|dias?)',
  'temporane\\p{L}*|piu tardi|al momento|attualmente|sicurezza|provvisori\\p{L}*|manutenzione|fino a\\p{L}*|domani|(?:tra|fra) \\d{1,5} (?:minuti|ore|giorni)',
  'tijdelijk\\p{L}*|momenteel|veiligheid\\p{L}*|voorlopig|onderhoud|morgen|op dit moment|over \\d{1,5} (?:minuten|uur)',
  'временн\\p{L}*|позже|позднее|завтра|пока|безопасност\\p{L}*|обслуживани\\p{L}*|через \\d{1,5}',
  'tymczasow\\p{L}*|chwilow\\p{L}*|pozniej|jutro|obecnie|bezpieczenstw\\p{L}*|konserwacj\\p{L}*|za \\d{1,5} (?:minut|godzin)\\p{L}*',
)
/** Words that ask to send again. They say so of a corrected address, too, if it is to be checked. */
export const AGAIN = words(
  '(?<!(?:not|never) )(?:try|retry|send|resend|come|call|attempt)(?: \\p{L}+){0,3} (?:again|back)|retry|resend|erneut|noch ?mals?|reessay\\p{L}*|(?:intent|prueb|envi)\\p{L}* (?:\\p{L}+ )?(?:de nuevo|nuevamente|otra vez)|reintent\\p{L}*|tente novamente|riprov\\p{L}*|probeer(?: \\p{L}+){0,3} opnieuw|повтор\\p{L}*|sprobuj ponownie',
)
export const CHECKED = words(
  'check|verify|correct|double|spelling|spelt|typos?|typing|pruf\\p{L}*|uberpruf\\p{L}*|verifi\\p{L}*|corrig\\p{L}*|comprueb\\p{L}*|revis\\p{L}*|confira|controll\\p{L}*|controleer|провер\\p{L}*|sprawdz\\p{L}*',
)
/** Words of a look-up of an address by SMTP, such as the call back that verifies a sender. */
export const LOOKED_UP_BY_SMTP = words(
  'check\\p{L}*|verif\\p{L}*|call(?:ed|ing)?(?: \\p{L}+){0,3} back|call(?:out|back)s?|prob(?:e[ds]?|ing)|test\\p{L}*|pruf\\p{L}*|uberpruf\\p{L}*|ruckfrage\\p{L}*|comprob\\p{L}*|controll?\\p{L}*|провер\\p{L}*|weryfik\\p{L}*|sprawdz\\p{L}*|dogrula\\p{L}*|kontrol\\p{L}*',
)

function of(claim: Assertion, ...phrases: readonly string[]): Predicate {
  return { claim, phrase: words(...phrases) }
}

/** Matches whole words; `\b` knows ASCII alone. Repetitions of letters get a bound. */
function words(...phrases: readonly string[]): RegExp {
  const source = phrases
    .join('|')
    .replaceAll('\\p{L}*', '\\p{L}{0,30}')
    .replaceAll('\\p{L}+', '@?\\p{L}{1,30}')
  return new RegExp(`(?<![\\p{L}@])(?:${source})(?![\\p{L}])`, 'gu')
}
