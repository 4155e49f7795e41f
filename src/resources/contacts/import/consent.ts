/**
 * Reads columns in which other programs export whether a contact wants mail, so that an import never makes
 * subscribers of people who have left.
 */

/**
 * What the cells of a column say: `left` if a true value means that the contact has left, `stays` if it means
 * the opposite, `leftWhenFilled` for times and reasons of leaving. A `state` may also be one of an address.
 */
export type ConsentMeaning = 'left' | 'stays' | 'leftWhenFilled' | 'state'

const words = (text: string) => text.split(' ')
const MEANINGS: ReadonlyMap<string, ConsentMeaning> = new Map([
  ...words(
    'unsubscribe unsubscribed isunsubscribed optout optedout hasoptedout isoptedout emailoptout emailoptedout ' +
      'hasoptedoutofemail unsubscribedfromemails unsubscribedfromallemail globallyunsubscribed blacklisted ' +
      'isblacklisted emailblacklisted blocklisted isblocklisted emailblocklisted blocked suppressed bounced ' +
      'complained donotemail donotmail donotcontact abgemeldet',
  ).map(name => [name, 'left'] as const),
  ...words(
    'status contactstatus subscriberstatus subscriptionstatus memberstatus emailstatus mailingstatus liststatus ' +
      'emailsubscriptionstatus emailmarketingstatus subscriptionstate subscribed issubscribed emailsubscribed ' +
      'subscribedtoemails subscribe optin optedin emailoptin emailoptedin isoptedin doubleoptin emailmarketing ' +
      'emailmarketingconsent emailconsent marketingconsent acceptsmarketing acceptsemailmarketing ' +
      'emailmarketingsubscribed marketingoptin',
  ).map(name => [name, 'stays'] as const),
  ...words(
    'unsubtime unsubreason unsubscribedat unsubscribedon unsubscribeddate unsubscribedate optoutat optouttime optoutdate optedoutat',
  ).map(name => [name, 'leftWhenFilled'] as const),
  ['state', 'state'],
])

const LEFT_WORDS = new Set(
  words(
    'unsubscribed unsubscribe unsub unsubscribedbyadmin optout optedout cleaned clean bounced bounce hardbounced ' +
      'hardbounce softbounced inactive disabled deactivated complained complaint complainer spam spamcomplaint ' +
      'reportedspam markedasspam blocklisted blacklisted blocked suppressed neversubscribed notsubscribed ' +
      'nonsubscribed removed deleted archived invalid undeliverable rejected revoked cancelled canceled pending ' +
      'unconfirmed notconfirmed unverified waiting transactional globallyunsubscribed abgemeldet left',
  ),
)
const STAYS_WORDS = new Set(
  words(
    'subscribed subscriber active enabled confirmed verified optin optedin doubleoptin singleoptin ' +
      'confirmedoptin explicit valid deliverable member ok angemeldet',
  ),
)
const TRUE = new Set(words('true yes y 1 t on x ja oui si'))
const FALSE = new Set(words('false no n 0 f off nein non'))

/** @param name name of a column without blanks, hyphens, underscores and accents, in lower case */
export function consentMeaning(name: string): ConsentMeaning | undefined {
  return MEANINGS.get(name)
}

/** Whether the cell says that the contact has left; undefined if it cannot be told. */
export function hasLeft(meaning: ConsentMeaning, cell: string): boolean | undefined {
  const word = cell.toLowerCase().replace(/[\s_-]/g, '')
  if (meaning === 'leftWhenFilled') return !FALSE.has(word)
  if (LEFT_WORDS.has(word)) return true
  if (STAYS_WORDS.has(word)) return false
  if (meaning === 'state') return undefined
  if (TRUE.has(word)) return meaning === 'left'
  if (FALSE.has(word)) return meaning === 'stays'
  return undefined
}
