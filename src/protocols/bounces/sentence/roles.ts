/**
 * What the words of a reply stand for: nouns by the party that they name, and the small words between them.
 * Words are lower case and without accents, as `clausesOf` returns them.
 */

/**
 * - `recipient`: the recipient, its mailbox or its address.
 * - `sender`: the sender, its address, or whatever is called "your".
 * - `host`: servers, connections and look-ups, of either side.
 * - `content`: the message and its parts.
 * - `domain`: a domain, of either side.
 * - `link`: words that say nothing about the party: articles, auxiliaries, adverbs, and nouns such as a name.
 * - `other`: every other word.
 */
export type Role = 'recipient' | 'sender' | 'host' | 'content' | 'domain' | 'link' | 'other'

/** Marks that `clausesOf` puts in the place of addresses and host names. */
export const MARKS = {
  recipient: '@to',
  recipientDomain: '@todomain',
  ours: '@us',
  otherAddress: '@else',
  otherHost: '@host',
  ip: '@ip',
} as const

/**
 * - `recipient-absent`, `recipient-gone`: there is no such mailbox, or no longer.
 * - `domain-absent`: the recipient's domain has no mail here.
 * - `sender`, `host`, `content`: something else is unknown, invalid or refused.
 * - `unclear`: the recipient or we do what is not understood.
 * - `passing`: the reply names a time or asks to come back.
 */
export type Finding =
  | 'recipient-absent'
  | 'recipient-gone'
  | 'domain-absent'
  | 'sender'
  | 'host'
  | 'content'
  | 'unclear'
  | 'passing'

const ROLES: readonly (readonly [Role, RegExp])[] = [
  [
    'sender',
    wordsOf(
      '@us|fromfield|senders?|sending|originat(?:ors?|ing)|bounces?|origin|orig[ei][mn]e?|herkunft|callbacks?|authors?|correspondents?|outsiders?|strangers?|spammers?',
      'yours?|you|outside|nonmembers?|guests?|impostors?',
      'absender\\p{L}*|versender\\p{L}*|ihr(?:e[rnsm]?)?|eure?|fremde\\p{L}?',
      'expediteurs?|emetteurs?|envoyeurs?|envoi|votre|vos',
      'remitentes?|remetentes?|emisor(?:es)?|envio|mittent[ei]|invio|vuestr[ao]|vostr[ao]|tuo|tua',
      'afzenders?\\p{L}*|verzender\\p{L}*|uw',
      'gonder(?:en|ici)\\p{L}{0,4}|avsandar\\p{L}*|afsender\\p{L}*|avsender\\p{L}*|odesilatel\\p{L}*|vas\\p{L}{0,2}|din|ditt|отправител\\p{L}*|ваш\\p{L}{0,3}|nadawc\\p{L}*|nadawca|tw[oo]j\\p{L}*',
    ),
  ],
  [
    'host',
    wordsOf(
      '@ip|hosts?|hostnames?|servers?|servernames?|clients?|ip|ips|ipv4|ipv6|helo|ehlo|dns|rdns|ptr|mx|reverse|networks?|netblock|relays?|connections?|gateways?|databases?|director(?:y|ies)|ldap|backends?|callouts?|lookups?|ports?|sessions?|certificates?|smtp|mta|stores?|configuration|software|process|storage|mailers?',
      'mailservers?|rechner\\p{L}*|verbindung\\p{L}*|rechnername\\p{L}?|\\p{L}+servers?|verzeichnis',
      'serveurs?|hotes?|connexions?|servidor(?:es)?|conexion|conexao|connessione|verbinding|anfitrion',
      'сервер\\p{L}*|хост\\p{L}*|узел|узла|соединени\\p{L}*|serwer\\p{L}*|polaczeni\\p{L}*|host[aeuy]?',
    ),
  ],
  [
    'content',
    wordsOf(
      'messages?|mails?|emails?|headers?|body|bodies|contents?|subjects?|attachments?|urls?|links?|signatures?|fields?|lines?|charsets?|characters?|files?|formats?|encoding|messageid|date|texts?|threats?|virus(?:es)?|mime|macros?',
      'kopfzeilen?|nachrichten?|betreff|inhalte?|anhang|anhange|zeichensatz|felde?s?',
      'tetes?|entetes?|corps|contenu|objet|champs?',
      'mensajes?|cabeceras?|encabezados?|asunto|campos?|mensage(?:m|ns)|cabecalhos?|assunto|anexos?|messaggi[o]?|intestazion[ei]|oggetto|allegat[oi]',
      'bericht(?:en)?|kopregels?|onderwerp|письм\\p{L}*|сообщени\\p{L}*|заголов\\p{L}*|wiadomosc\\p{L}*|naglow\\p{L}*|tresc\\p{L}*',
    ),
  ],
  [
    'domain',
    wordsOf(
      '@todomain|domains?|domainnames?|domanen?|domaines?|dominios?|domini|domein(?:en)?|домен\\p{L}*|domen\\p{L}*',
    ),
  ],
  [
    'recipient',
    wordsOf(
      '@to|localpart|user|username|userid|recipient|mailbox|inbox|box|account|address|addressee|alias|customer|employee|person|someone|anyone|anybody|somebody|login|\\p{L}*mailaccount|subscriber|member|colleague|student|addr|uid',
      'empf(?:a|ae)nger\\p{L}*|postf(?:a|ae)ch\\p{L}*|benutzer\\p{L}*|nutzer\\p{L}*|adress\\p{L}*|\\p{L}*mailadresse\\p{L}*|mailkonto|konto|kontos|konten|anwender\\p{L}*|teilnehmer\\p{L}*|mitarbeiter\\p{L}*|kunden?|briefkasten|kennung',
      'destinataires?|correspondant|collaborat(?:eur|rice)|salarie|adherent|utilisateurs?|utilisatrice|adresses?|boites?|comptes?|abonnes?|bal|usager|employe',
      'destinatari[oa]s?|usuari[oa]s?|buzon(?:es)?|direccion(?:es)?|cuentas?|casillas?|empleado',
      'utilizador(?:es)?|caixas?|enderecos?|contas?|funcionario|colaborador',
      'destinatari|utent[ei]|casell[ae]|indirizz[oi]|dipendente|posta',
      'gebruikers?\\p{L}*|\\p{L}*adres(?:sen)?|\\p{L}{0,12}adress\\p{L}{0,4}|kullan[iı]c[iı]\\p{L}*|al[iı]c[iı]\\p{L}*|hesa[bp]\\p{L}{0,3}|geadresseerde|ontvangers?\\p{L}*|postvak|postbus|medewerker',
      'получател\\p{L}*|пользовател\\p{L}*|ящик\\p{L}*|адресат\\p{L}*|адрес\\p{L}*|абонент\\p{L}*|учетн\\p{L}*|аккаунт\\p{L}*|сотрудник\\p{L}*|логин\\p{L}*',
      'mottagar\\p{L}*|modtager\\p{L}*|mottaker\\p{L}*|anvandar\\p{L}*|bruger\\p{L}*|bruker\\p{L}*|postkass\\p{L}*|brevlad\\p{L}*|postlad\\p{L}*|kontot|kontoen|prijemc\\p{L}*|uzivatel\\p{L}*|schrank\\p{L}*|ucet|uctu',
      'odbiorc\\p{L}*|adresat\\p{L}*|uzytkowni\\p{L}*|adres\\p{L}*|skrzyn\\p{L}*|kont[aoe]|pracowni\\p{L}*',
    ),
  ],
  [
    'link',
    wordsOf(
      '@here|@one|#|\\p{L}{0,12}\\p{N}[\\p{L}\\p{N}]{0,12}|rcp|\\p{N}+|\\p{L}|the|a|an|this|that|these|those|our|my|its|his|her|their|such|any|or|and|as|local|valid|known|existing|registered|virtual|internal|external|final|destination|target|specified|given|requested|intended|individual|remote|new|active|single|delivery|deliver(?:ed|able|ing)?|all|last|found|every|more|whose|primary|smtp|rcpt|ad|names?|records?|entr(?:y|ies)|match(?:es|ing)?|results?|ids?|parts?|system|organi[sz]ation|tenant|place|owner|object|company',
      '(?!only|reply|apply|supply|family)\\p{L}{2,}(?:ly|amente|emente)|mr|mrs|ms|dr|prof|looks?|like|appear|regret|afraid|that|him|than|i|we|it|he|she|they|us|me|one|there|here|is|are|was|were|be|been|being|am|has|have|had|having|does|do|did|can|could|will|in|on|at|to|of|by|with|within|for|under|behind|which|who|whom|also|either|still|already|just|simply|really|longer|anymore|now|sorry|unfortunately|please|named|called|belong(?:s|ing)?|assigned|corresponding|works?|working|exists?|lives?|alumni|old|staff|corporate|employed|number|returned|longer|another|permanently|definitively|finally|quite|entirely|corporation|inc|ltd|gmbh|directly|indeed|where|ours|own|personal|private|business|entered|typed|provided|supplied|addressed|mentioned|above|below|following|original|listed|known|rejected|refused|bounced|failed|permanent(?:ly)?|so|therefore|ago|years?|months?|since|after|inactivity|too|then|hence|afraid|apparently|probably|january|february|march|april|june|july|august|september|october|november|december|status|code|error|exactly|correct|action|dd|well|hereby|completely|very|ever|seems?|appears?',
      '\\p{L}{0,12}(?:schrieb|geb|such|nann|trag|wunsch|adressier|wahl)(?:en|t)e[nrsm]?|beim|ans|herr|frau|zustellung|folgende[nrs]?|fehlgeschlagen|gibt|passende[nrs]?|kennen|kennt|konnten|finden|sein|seine[nmrs]?|scheint|anscheinend|offenbar|tut|leid|wurden|jemand|aus|ihm|name|namen|namens|eintrag|treffer|der|die|das|den|dem|des|dieser|diese[mns]?|diesen|angegebene[rnsm]?|ein|eine[mnrs]?|oder|und|solche[rns]?|ist|sind|war|wurde|wurden|worden|wird|werden|hat|haben|konnte|kann|bei|uns|im|in|auf|unter|mit|zu|zum|zur|vom|hier|unsere[mnrs]?|unserm|leider|bereits|mehr|hiesigen|system|bitte|es|er|namens|gefunden|eingerichtet|bekannt|vorhanden|erreichbar|registriert|genannte[nrs]?|gewunschte[nrs]?|hinter|gewesen|an|fur|fuer|schon|endgultig|dauerhaft|permanent|inzwischen|sich|so|also|auch|keinesfalls|korrekt|richtig\\p{L}?|adressierte[rn]?|erreicht|besitzer|inhaber|dort|da|man|wir|ich|jetzt|nun|seit|ab|am|eigene[nr]?|privat\\p{L}?|elektronische[nr]?|gesuchte[nr]?|eingegebene[nr]?|nummer|personlich\\p{L}?|somit|lokale[nrs]?',
      'monsieur|madame|mme|remise|echec|echoue|suivante?s?|semble|parait|apparemment|desormais|connaissons|trouvons|avons|nomme|appele|nom|nombre|nome|naam|le|la|les|l|un|une|ce|cet|cette|ou|et|tel|telle|a|au|aux|de|du|des|d|chez|nous|notre|nos|ici|est|sont|ete|par|son|sa|il|elle|y|en|plus|que|qui|avec|sur|dans|sous|cela|lettres|demandee?|indiquee?|correspondance|auc|electronique|mail|courriel|messagerie|titulaire|ne|correspond|definitivement|depuis|annee|jour|proprietaire|client|employeur|malheureusement|desole|cependant|entree?|saisie?|fournie?|numero|personnel|personnelle|destination|pour|se|soit|celle|celui|donnee?|demande|recherchee?|trouvee?',
      'senor|senora|sr|sra|sig|signor|signora|ese|alcun[oa]?|specificat[oa]|appartiene|deste|desta|desse|dessa|deles?|nesse|nessa|num|numa|pelos?|pelas?|dei|degli|delle|dalla|dallo|alla|allo|ai|agli|alle|nello|negli|nelle|col|questi|queste|parece|sembra|entrega|fallo|falha|consegna|recapito|fallita|siguientes?|seguintes?|seguent[ei]|aparentemente|llamad[oa]|chamad[oa]|chiamat[oa]|conocemos|conhecemos|conosciamo|tenemos|temos|abbiamo|ahora|agora|ora|el|los|las|una|este|esta|ese|esa|o|os|as|um|uma|il|lo|gli|i|dell|della|del|dello|questo|questa|quest|tale|al|e|con|por|en|em|no|na|nos|nesse|neste|nesta|nosso|nossa|nuestro|nuestra|nostro|nostra|aqui|qui|ya|ha|ho|sido|fue|foi|sono|stat[oa]|per|da|do|das|dos|com|que|che|se|si|este|ese|correo|electronico|postal|elettronica|electronica|eletronic[oa]|indicad[oa]s?|indicat[oa]|solicitad[oa]|richiest[oa]|presso|nel|nella|sul|sulla|ou|ja|era|titular|titolare|foram|tem|di|pelo|pela|mensajeria|esistente|informad[oa]|digitad[oa]|introducid[oa]|ingresad[oa]|especificad[oa]|fornecid[oa]|inserit[oa]|definitivament[e]|permanentement[e]|definitivamente|permanente|dueno|dono|proprietario|propietario|persona|pessoa|mas|mais|piu|lamentablemente|infelizmente|purtroppo|siamo|somos|estamos|nuestros?|nossos?|nostri|posto|tra|fra|entre|esa|essa|esse|isso|destino|destinazione|cliente|clienti|ja|servizio|servicio|servico|ano|anno|desde|dal|numero|ningun',
      'aflevering|bezorging|mislukt|volgende|meneer|mevrouw|blijkbaar|kennen|hebben|heeft|genaamd|het|een|deze|dit|die|op|ons|onze|is|zijn|werd|wordt|geworden|bij|van|met|naar|aan|of|en|door|opgegeven|hier|er|meer|der|gevonden|bekend|helaas|definitief|permanent|eigenaar|klant|persoon|aangemaakt|ingevoerde|nummer|naam|sinds|wij|we|zich|als|dan|worden|langer|elektronische',
      'этот|этого|этим|эта|такой|такого|таким|такая|указанный|указанного|с|по|на|в|во|у|к|этом|нашем|нашей|нас|нам|здесь|был[аои]?|есть|имя|имени|имен\\p{L}*|запис\\p{L}*|почтов\\p{L}*|электронн\\p{L}*|почт\\p{L}*|данн\\p{L}*|или|и|больше|уже|более|владельц\\p{L}*|навсегда|к|сожалению|указан\\p{L}*|введен\\p{L}*|нашеи|системе|клиент\\p{L}*|окончательно|ни|один|одного|такои|нашего|этои|данныи|это|мы|при|был|человек|пользователь|номер',
      'ten|ta|to|taki|takiego|takiej|takie|takim|podan\\p{L}*|znamy|imieni\\p{L}*|nazw\\p{L}*|wpis\\p{L}*|poczt\\p{L}*|na|w|z|o|u|nas|tym|tej|tego|naszym|naszej|zosta\\p{L}*|jest|byl[ao]?|juz|lub|i|tutaj|niestety|wlasciciel\\p{L}*|trwale|klient\\p{L}*|osob\\p{L}*|wskazan\\p{L}*|wprowadzon\\p{L}*|pod|nasz\\p{L}*|system\\p{L}*|e|numer|ani|danym|dany|zaden|zadnego|stale|elektroniczn\\p{L}*',
      'som|har|den|det|en|ett|et|med|detta|denne|denna|dette|hos|os|oss|pa|i|har|er|ar|har|blivit|blevet|til|till|her|med|navn|namn|och|og|adressen|s|boyle|bir|bu|e|timto|tato|tento|jmenem|nami|u|nas|nasem|serveru|neni|byl[ao]?|byla|se|na|tomto|takov\\p{L}{0,2}|zde|pod',
    ),
  ],
]

function wordsOf(...alternatives: readonly string[]): RegExp {
  return new RegExp(`^(?:${alternatives.join('|')})$`, 'u')
}

const known = new Map<string, Role | undefined>()
const KNOWN_MAX = 5_000

export function roleOf(word: string): Role | undefined {
  if (known.has(word)) return known.get(word)
  const role = ROLES.find(([, words]) => words.test(word))?.[0]
  if (known.size < KNOWN_MAX) known.set(word, role)
  return role
}
