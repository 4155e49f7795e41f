/**
 * Reads columns in which other programs export whether a contact wants mail, so that an import never makes
 * subscribers of people who have left.
 */

/**
 * What the cells of a column say: `left` if a true value means that the contact has left, `stays` if it means
 * the opposite, `leftWhenFilled` for times and reasons of leaving. In other columns, only some values say it:
 * a `state` may be one of an address, and a `choice` may be one of several newsletters.
 */
export type ConsentMeaning = 'left' | 'stays' | 'leftWhenFilled' | 'state' | 'choice'

const words = (text: string) => text.split(' ')
const MEANINGS: ReadonlyMap<string, ConsentMeaning> = new Map([
  ...words(
    'unsubscribe unsubscribed isunsubscribed optout optedout hasoptedout isoptedout emailoptout emailoptedout ' +
      'hsemailoptout globallyunsubscribed blacklisted isblacklisted emailblacklisted isthissubscriberblacklisted ' +
      'blocklisted isblocklisted emailblocklisted blocked suppressed bounced complained emaildisabled ' +
      'deactivated deleted archived abgemeldet desinscrit desabonne disiscritto uitgeschreven',
  ).map(name => [name, 'left'] as const),
  ...words(
    'status statut stato contactstatus subscriberstatus memberstatus liststatus subscriptionstate subscribed ' +
      'issubscribed emailsubscribed subscribedtoemails subscribe optin optedin emailoptin emailoptedin isoptedin ' +
      'doubleoptin confirmedoptin emailmarketing emailmarketingconsent emailconsent marketingconsent ' +
      'acceptsmarketing acceptsemailmarketing emailmarketingsubscribed marketingoptin isthissubscriberconfirmed ' +
      'angemeldet',
  ).map(name => [name, 'stays'] as const),
  ...words('emailsuppressions stoptime abgemeldetam abmeldedatum datededesinscription').map(
    name => [name, 'leftWhenFilled'] as const,
  ),
  ...words('state estado type subscribertype').map(name => [name, 'state'] as const),
  ...words(
    'newsletter newsletters newslettersubscription subscribetonewsletter receivenewsletter receivesnewsletter ' +
      'mailinglist',
  ).map(name => [name, 'choice'] as const),
])
/** Names that begin or end with words of one meaning, such as `Opted out of email: Offers`. */
const PATTERNS: readonly [RegExp, ConsentMeaning][] = [
  [/^(?:has)?(?:opted|opt)outof|^(?:is)?(?:unsubscribed|excluded)from|^donot(?:e?mail|contact|send)/, 'left'],
  [
    /^(?:email|confirmed)?(?:unsub(?:scri(?:be|bed|ption))?|opt(?:ed)?out|cleaned|clean|bounced?|complain(?:t|ed)|(?:black|block)listed|suppress(?:ed|ion)|archived|deleted|removed|deactivated)(?:at|on|date|time|timestamp|datetime|reason|reasonother|source|campaign(?:id|title)?)$/,
    'leftWhenFilled',
  ],
  [/(?:subscri(?:ber|ption)|email|newsletter|mailing|marketing|optin|consent|permission)status$/, 'stays'],
]

const LEFT_WORDS = new Set(
  words(
    'unsubscribed unsubscribe unsub unsubscribedbyadmin optout optedout cleaned clean bounced bounce hardbounced ' +
      'hardbounce softbounced inactive disabled deactivated complained complaint complainer spam spamcomplaint ' +
      'reportedspam markedasspam abuse abused blocklisted blacklisted blocked suppressed neversubscribed ' +
      'notsubscribed nonsubscribed removed deleted archived invalid undeliverable unreachable rejected revoked ' +
      'cancelled canceled pending unconfirmed notconfirmed unverified unactivated waiting awaitingconfirmation ' +
      'transactional globallyunsubscribed noconsent donotcontact donotmail left ' +
      'abgemeldet desinscrit desabonne disiscritto uitgeschreven afgemeld baja dadodebaja desuscrito nosuscrito ' +
      'descadastrado',
  ),
)
const STAYS_WORDS = new Set(
  words(
    'subscribed subscriber active enabled confirmed verified optin optedin doubleoptin singleoptin ' +
      'confirmedoptin explicit express implied valid deliverable member ok ' +
      'angemeldet aktiv bestatigt abonne inscrit actif iscritto attivo aangemeld suscrito activo inscrito ativo',
  ),
)
const TRUE = new Set(words('true yes y 1 t on x ja oui si sim tak'))
const FALSE = new Set(words('false no n 0 f off nein non nee nao nie'))
/** What programs write for a value that is missing. */
const NOTHING = new Set(words('null none na n/a nil [] {}'))
const DATE = /^(?:\d{4}[-/.]?\d{1,2}[-/.]?\d{1,2}|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})/
/** A date of databases that says there is none, such as `0000-00-00 00:00:00`. */
const NO_DATE = /^0[0:./]*$/

/** @param name name of a column without blanks, punctuation and accents, in lower case */
export function consentMeaning(name: string): ConsentMeaning | undefined {
  return MEANINGS.get(name) ?? PATTERNS.find(([pattern]) => pattern.test(name))?.[1]
}

/** Whether the cell says that the contact has left; undefined if it cannot be told. */
export function hasLeft(meaning: ConsentMeaning, cell: string): boolean | undefined {
  const word = cell
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}\s_-]/gu, '')
  const isFalse = FALSE.has(word) || NO_DATE.test(word)
  if (meaning === 'leftWhenFilled') return !isFalse && !NOTHING.has(word)
  if (LEFT_WORDS.has(word)) return true
  if (STAYS_WORDS.has(word)) return false
  if (meaning === 'state') return undefined
  if (isFalse) return meaning !== 'left'
  if (TRUE.has(word)) return meaning === 'left'
  if (meaning === 'left' && NOTHING.has(word)) return false
  // the time since which the column is true
  return meaning !== 'choice' && DATE.test(word) ? meaning === 'left' : undefined
}
