/**
 * What replies say of their subjects, by language: phrases in the form that `clausesOf` returns. An
 * expression has no repetition without a bound.
 */

/** `undelivered` says of the recipient that it is absent, and nothing of anything else. */
export type Assertion = 'absent' | 'gone' | 'failed' | 'undelivered'

/**
 * Where the subject stands: `before` the phrase as a whole (or behind it, where the verb comes first),
 * `around` for adjectives beside their noun, `after` for determiners and verbs with an object, `clause`
 * anywhere.
 */
type Side = 'before' | 'around' | 'after' | 'clause'

export interface Predicate {
  claim: Assertion
  side: Side
  phrase: RegExp
}

const ENGLISH: readonly Predicate[] = [
  of('absent', 'around', 'unknown', 'invalid', 'illegal', 'nonexist\\p{L}*', 'inexistent'),
  of('undelivered', 'around', 'undeliverable', 'unroute?able'),
  of('absent', 'after', 'bad', 'wrong', 'no such', 'no', 'not an?', 'not any'),
  of(
    'absent',
    'before',
    '(?<!(?:has|have|had) )not (?:be |been |get |currently )?(?:found|located|known|listed|recogni[sz]ed|registered|present|valid|local|identified|resolved|existent|existing|served|hosted|handled|matched|assigned|mapped|associated|defined)(?: to| at| on| in| by)?',
    'not (?:\\p{L}+ )?exists?',
    'no longer (?:exists?|valid|known|there|present|available)',
    'never (?:been )?(?:existed|created|registered|set up)',
    'not resolve(?: to)?',
    'not one of (?:our|my|the)',
    'not (?:here|with us)',
    'not available (?:at|in|on) (?:this|our|the)',
    'not in (?:the|our|my|this|any) (?:\\p{L}+ ){0,2}(?:directory|tables?|database|system|book|organi[sz]ation|list of users)',
    'unavailable',
    'found no (?:user|mailbox|account)',
    'has no (?:mx|address record|mail exchanger)',
  ),
  of(
    'absent',
    'after',
    '(?:not|never) (?:be able to )?(?:find|locate|know|recogni[sz]e|identify|resolve|match|have|serve|host)',
    'unable to (?:find|locate|identify|recogni[sz]e|match)',
    'failed to (?:find|locate|identify)',
    'no longer (?:has|have|holds)',
    '(?:has|have|had) not found',
  ),
  of(
    'gone',
    'around',
    'disabled|inactive|deactivated|not active|not in use|discontinued|shut down|terminated|suspended|expired|deleted|removed|erased|purged|retired|decommissioned|archived|abandoned|cancell?ed|revoked|obsolete|dissolved|dormant|closed|out of use|ceased|former',
  ),
  of(
    'gone',
    'before',
    'no longer (?:in use|active|used|with (?:us|the|this|our)|works?|working|employed|monitored|maintained|part of|accepts?|accepting|receives?|receiving|in service)',
    'not (?:used|active|work|works|with us|here|employed|in use|accept mail|part of) (?:\\p{L}+ ){0,3}anymore',
    '(?:has|have|had) left (?:the|our|this|us)',
    '(?:has )?quit (?:the|our|this)',
    '(?:has |have |had |was )?moved',
  ),
  of(
    'failed',
    'before',
    'failed|rejected|refused|denied|blocked|forged|not (?:allowed|permitted|welcome|accepted|trusted|verified)',
  ),
]

const GERMANIC: readonly Predicate[] = [
  of(
    'absent',
    'around',
    'unbekannt\\p{L}*|ungu?e?ltig\\p{L}*|ungultig\\p{L}*|inexistent\\p{L}*|onbekende?|ongeldige?',
  ),
  of('absent', 'after', 'kein(?:e[nmrs]?)?', 'geen'),
  of(
    'absent',
    'before',
    'existier\\p{L}*(?: \\p{L}+){0,3} nicht',
    'nicht (?:mehr )?(?:bekannt|gefunden|vorhanden|eingerichtet|verfu?e?gbar|registriert|existiert|existent|auffindbar|angelegt|ermittelt|zugeordnet)',
    'bestaat (?:\\p{L}+ ){0,3}niet',
    'bestaan niet',
    'niet (?:meer )?(?:gevonden|bekend|aanwezig|geregistreerd|bestaand)',
  ),
  of(
    'absent',
    'clause',
    'gibt es (?:\\p{L}+ ){0,3}nicht',
    'kenn(?:e|en|t) (?:\\p{L}+ ){0,3}nicht',
    'kennen wij niet',
  ),
  of(
    'gone',
    'around',
    'deaktiviert\\p{L}*|gesperrt\\p{L}*|inaktiv\\p{L}*|geschlossen\\p{L}*|stillgelegt\\p{L}*|geku?e?ndigt\\p{L}*|gelo?e?scht\\p{L}*|gelo?scht\\p{L}*|entfernt|abgeschaltet|aufgelo?st|aufgelost|abgelaufen|archiviert|nicht (?:mehr )?(?:aktiv|genutzt|verwendet|benutzt|in (?:betrieb|gebrauch|verwendung|benutzung))',
    'opgeheven|gesloten|verwijderd|geblokkeerd|inactief|gedeactiveerd|uitgeschakeld|niet (?:meer )?(?:actief|in gebruik)',
  ),
  of(
    'gone',
    'before',
    'nicht (?:mehr|langer) (?:\\p{L}+ ){0,5}(?:tatig|beschaftigt|angestellt)',
    'arbeitet (?:\\p{L}+ ){0,3}nicht mehr',
    'hat (?:\\p{L}+ ){0,3}verlassen',
    'werkt (?:\\p{L}+ ){0,2}niet meer',
  ),
  of(
    'failed',
    'before',
    'abgelehnt|abgewiesen|verweigert|nicht (?:erlaubt|zugelassen|angenommen)|geweigerd|niet toegestaan',
  ),
]

const ROMANCE: readonly Predicate[] = [
  of(
    'absent',
    'around',
    'inconnue?s?|inexistante?s?|introuvables?|invalides?|incorrecte?s?|erronee?s?|non valides?',
    '(?:desconocid|invalid|desconhecid|sconosciut|incorret|incorrect|errat)[aoie]s?',
    'inexistentes?|inesistent[ei]|no valid[ao]s?|non valid[aoei]|nao valid[ao]s?|invalide',
  ),
  of('absent', 'after', 'aucune?', 'ningun[ao]?', 'nenhuma?', 'nessun[oa]?', 'no hay', 'nao ha', 'pas de?'),
  of(
    'absent',
    'before',
    'n existe\\p{L}* (?:pas|plus)',
    'n est (?:pas|plus) (?:valide|connue?|reconnue?|enregistree?|repertoriee?)',
    'n a pas (?:ete|pu etre) (?:trouve|localise)\\p{L}*',
    'non trouvee?s?',
    'no existen?',
    'no (?:se |ha |fue |pudo |puede |sido |ser |esta |es ){0,3}(?:encontr|localiz|reconoc|registrad|conocid|valid|hall)\\p{L}*',
    'nao existem?',
    'nao (?:foi |pode |ser |esta |e ){0,3}(?:encontrad|localizad|reconhecid|cadastrad|registrad|conhecid|valid)\\p{L}*',
    'non esiston?o?',
    'non esiste',
    'non (?:e |e stat[oa] |risulta |risultano ){0,2}(?:trovat|presente|riconosciut|registrat|valid|conosciut|censit)\\p{L}*',
  ),
  of(
    'gone',
    'around',
    'desactivee?s?|inacti(?:f|ve)s?|suspendue?s?|fermee?s?|cloturee?s?|resiliee?s?|supprimee?s?|archivee?s?|expiree?s?',
    '(?:desactivad|inactiv|suspendid|deshabilitad|cerrad|cancelad|eliminad|borrad|dad[ao] de baj|desativad|inativ|suspens|bloquead|encerrad|excluid|removid|apagad|deletad|desligad|expirad|disattivat|disabilitat|inattiv|sospes|chius|cessat|cancellat|eliminat|rimoss|dismess|scadut)[aoei]s?',
  ),
  of(
    'gone',
    'before',
    'n est plus (?:\\p{L}+ )?(?:utilise|active?|actif|valide|employe|en service)\\p{L}*',
    'n est pas acti(?:f|ve)',
    'a quitte',
    'ne travaille plus',
    'ya no (?:\\p{L}+ )?(?:trabaja|usa|uso|utiliza|activ[oa]|pertenece)',
    'nao (?:\\p{L}+ )?mais (?:em uso|ativ[oa]|utilizad[oa]|trabalha)',
    'nao trabalha mais',
    'non (?:e |lavora )?piu (?:attiv|in uso|utilizzat|valid|impiegat|qui|con noi)\\p{L}*',
  ),
  of(
    'failed',
    'before',
    'refuse(?:e|s|es)?|rejetee?s?|bloquee?s?|interdite?s?|rechazad[ao]s?|rejeitad[ao]s?|recusad[ao]s?|bloquead[ao]s?|rifiutat[aoei]|no permitid[ao]s?',
  ),
]

const SLAVIC: readonly Predicate[] = [
  of(
    'absent',
    'around',
    'неизвест\\p{L}*|недеиствительн\\p{L}*|несуществующ\\p{L}*|неверн\\p{L}*',
    'nieznan\\p{L}*|nieprawidlow\\p{L}*|nieistniejac\\p{L}*|bledny',
  ),
  of('absent', 'clause', 'нет', 'nie ma', 'brak'),
  of(
    'absent',
    'before',
    'не (?:существу\\p{L}*|наиден\\p{L}*|извест\\p{L}*|зарегистрирован\\p{L}*|обнаружен\\p{L}*|значится)',
    'отсутству\\p{L}*',
    'nie (?:istnieje|istnieja|znaleziono|figuruje|odnaleziono|jest znan\\p{L}*)',
    'nie zosta\\p{L}* (?:od|z)nalezion\\p{L}*',
  ),
  of(
    'gone',
    'around',
    'заблокирован\\p{L}*|отключен\\p{L}*|неактивн\\p{L}*|удален\\p{L}*|приостановлен\\p{L}*|закрыт\\p{L}*|деактивирован\\p{L}*|уволен\\p{L}*|больше не (?:используется|работает|активен)',
    'zablokowan\\p{L}*|nieaktywn\\p{L}*|zawieszon\\p{L}*|wylaczon\\p{L}*|usuniet\\p{L}*|zamkniet\\p{L}*|skasowan\\p{L}*|zlikwidowan\\p{L}*',
  ),
  of('gone', 'before', 'не работает', '(?:juz )?nie (?:pracuje|jest (?:juz )?(?:uzywan|aktywn)\\p{L}*)'),
  of('failed', 'before', 'отклонен\\p{L}*|запрещен\\p{L}*|отвергнут\\p{L}*|odrzucon\\p{L}*|odmowion\\p{L}*'),
]

export const PREDICATES: readonly Predicate[] = [...ENGLISH, ...GERMANIC, ...ROMANCE, ...SLAVIC]

/** Words for a state that will end. */
export const PASSING = words(
  'temporar(?:y|ily)|later|tomorrow|until|for now|for the (?:moment|time being)|at (?:the|this) moment|at present|right now|currently|in a (?:moment|while|minute|few|bit)|shortly|soon|maintenance|in progress|(?:is|are) under way|paused|pending|yet|weekend|during|today|tonight|overnight|this (?:week|month)|security|(?:after|in|for) \\d{1,3} ?(?:h|hrs|d|m)|on vacation|till|not yet|holidays?|from \\d{1,2} (?:to|until)|back on|will (?:then )?be (?:back|reopened|enabled|reactivated|active|available|restored)|wait (?:for|until|an?|some|\\d{1,5})|(?:in|after|within|for|next) (?:the next |about )?(?:\\d{1,5}|an?|one|two|few|some) ?(?:s|sec|min|seconds?|minutes?|hours?|days?|weeks?)',
  'vorubergehend\\p{L}*|voruebergehend\\p{L}*|vorlaufig\\p{L}*|zeitweilig|zeitweise|spater|spaeter|bis (?:morgen|auf weiteres|montag|\\d+)|momentan|derzeit|zur zeit|zurzeit|gerade|sicherheitsgrund\\p{L}*|wartung\\p{L}*|in (?:\\d{1,5}|einer|einigen) (?:minuten?|stunden?|tagen)',
  'temporaire\\p{L}*|provisoire\\p{L}*|momentanee?\\p{L}*|plus tard|ulterieur\\p{L}*|actuellement|securite|pour l(?:e|a)? ?(?:moment|instant)|en ce moment|jusqu\\p{L}*|dans \\d{1,5} (?:minutes?|heures?|jours?)',
  'temporal\\p{L}*|mas tarde|hasta|manana|mantenimiento|por (?:el|ahora)(?: momento)?|de momento|actualmente|seguridad|provisional\\p{L}*|(?:en|dentro de) \\d{1,5} (?:minutos?|horas?|dias?)',
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

function of(claim: Assertion, side: Side, ...phrases: readonly string[]): Predicate {
  return { claim, side, phrase: words(...phrases) }
}

/** Matches whole words; `\b` knows ASCII alone. Repetitions of letters get a bound. */
function words(...phrases: readonly string[]): RegExp {
  const source = phrases.join('|').replaceAll('\\p{L}*', '\\p{L}{0,30}').replaceAll('\\p{L}+', '\\p{L}{1,30}')
  return new RegExp(`(?<![\\p{L}@])(?:${source})(?!\\p{L})`, 'gu')
}
