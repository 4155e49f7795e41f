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
 * - `other`: what has nothing to do with a party, such as a reason or an error.
 * - `thing`: nouns that say nothing about the party, such as a name or a record.
 * - `link`: articles and adjectives within a phrase.
 */
export type Role = 'recipient' | 'sender' | 'host' | 'content' | 'domain' | 'other' | 'thing' | 'link'

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
 * - `passing`: the reply names a time or asks to come back.
 */
export type Finding =
  | 'recipient-absent'
  | 'recipient-gone'
  | 'domain-absent'
  | 'sender'
  | 'host'
  | 'content'
  | 'passing'

const ROLES: readonly (readonly [Role, RegExp])[] = [
  [
    'sender',
    wordsOf(
      '@us|fromfield|senders?|sending|originat(?:ors?|ing)|bounces?|origin|orig[ei][mn]e?|herkunft|callbacks?|authors?|correspondents?|outsiders?|strangers?|spammers?',
      'yours?|outside|nonmembers?|guests?|impostors?',
      'absender\\p{L}*|versender\\p{L}*|ihr(?:e[rnsm]?)?|eure?|fremde\\p{L}?',
      'expediteurs?|emetteurs?|envoyeurs?|envoi|votre|vos',
      'remitentes?|remetentes?|emisor(?:es)?|envio|mittent[ei]|invio|su|sua|seu|suo|vuestr[ao]|vostr[ao]|tuo|tua',
      'afzenders?\\p{L}*|verzender\\p{L}*|uw',
      'отправител\\p{L}*|ваш\\p{L}{0,3}|nadawc\\p{L}*|nadawca|tw[oo]j\\p{L}*',
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
    'other',
    wordsOf(
      'envelope|authentication|auth|submission|verification|restrictions?|lists?|tables?|books?|rules?|preferences|filters?|protection|reasons?|errors?|problems?|causes?|services?|commands?|parameters?|arguments?|requests?|syntax|passwords?|credentials|access|rights?|permissions?|subscription|fehler|dienst|grund|erreur|service|error|errore|motivo|ошибк\\p{L}*|blad|fout',
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
      '@to|localpart|users?|usernames?|userids?|recipients?|rcpts?|mailbox(?:es)?|inbox|box|accounts?|addresse?s?|addressees?|aliase?s?|customers?|employees?|persons?|people|logins?|subscribers?|members?|colleagues?|staff|students?|addr|uid',
      'empf(?:a|ae)nger\\p{L}*|postf(?:a|ae)ch\\p{L}*|benutzer\\p{L}*|nutzer\\p{L}*|adress\\p{L}*|\\p{L}*mailadresse\\p{L}*|mailkonto|konto|kontos|konten|anwender\\p{L}*|teilnehmer\\p{L}*|mitarbeiter\\p{L}*|kunden?|briefkasten|kennung',
      'destinataires?|utilisateurs?|utilisatrice|adresses?|boites?|comptes?|abonnes?|bal|usager|employe',
      'destinatari[oa]s?|usuari[oa]s?|buzon(?:es)?|direccion(?:es)?|cuentas?|casillas?|empleado',
      'utilizador(?:es)?|caixas?|enderecos?|contas?|funcionario|colaborador',
      'destinatari|utent[ei]|casell[ae]|indirizz[oi]|dipendente|posta',
      'gebruikers?\\p{L}*|\\p{L}*adres(?:sen)?|geadresseerde|ontvangers?\\p{L}*|postvak|postbus|medewerker',
      'получател\\p{L}*|пользовател\\p{L}*|ящик\\p{L}*|адресат\\p{L}*|адрес\\p{L}*|абонент\\p{L}*|учетн\\p{L}*|аккаунт\\p{L}*|сотрудник\\p{L}*|логин\\p{L}*',
      'odbiorc\\p{L}*|adresat\\p{L}*|uzytkowni\\p{L}*|adres\\p{L}*|skrzyn\\p{L}*|kont[aoe]|pracowni\\p{L}*',
    ),
  ],
  [
    'thing',
    wordsOf(
      'names?|records?|entr(?:y|ies)|match|matches|results?|id|ids|parts?|path|system|organi[sz]ation|tenant|site|place|owner|object',
      'name|namen|namens|eintrag|treffer|nom|nombre|nome|naam|имя|имени|имен\\p{L}*|запис\\p{L}*|nazw\\p{L}*|wpis\\p{L}*|correspondance|aux|lettres|postal|electronico|correo|elettronica|poczt\\p{L}*|почтов\\p{L}*',
    ),
  ],
  [
    'link',
    wordsOf(
      'the|a|an|this|that|these|those|our|my|its|his|such|any|or|and|local|valid|known|existing|registered|virtual|internal|external|final|destination|target|specified|given|requested|intended|individual|email|mail|remote|new|active|single|delivery|forwarding|incoming|outgoing|all|every|bulk|more|other|unknown|invalid|nonexistent|nonexisting|illegal|bad|whose|primary|smtp',
      'der|die|das|den|dem|dieser|diese|dieses|diesen|angegebene[rnsm]?|ein|eine|einen|kein|oder|und|solche[rns]?|le|la|les|l|un|une|ce|cet|cette|ou|et|tel|telle|el|los|las|una|este|esta|ese|esa|ningun|o|os|as|um|uma|il|lo|gli|i|dell|questo|questa|tale|het|een|deze|dit|die|opgegeven|этот|этого|такой|такого|ten|ta|taki|takiego|takiej|takie|podany|podanego|указанный|указанного|indicado|indicada|indicato|indique|indiquee',
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

/** Prepositions behind which a noun belongs to the one before it. */
export const GENITIVE =
  /^(?:of|for|from|de|du|des|d|del|della|delle|do|da|dos|der|von|vom|van|ihres|от|od|whose|use|uses|used|using)$/u
/** Prepositions behind which a header or an envelope field says where an address was found. */
export const WITHIN =
  /^(?:in|within|dans|en|em|nel|nella|nell|im|der|w|we|в|во|inside|of|de|del|du|da|do|to|for|zu|от|from|an|fur)$/u
