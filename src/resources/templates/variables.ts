/** Names of the placeholders in broadcasts. This file is part of the dashboard, too. */

/** Variables that every contact has in addition to its properties. */
type ContactVariable = 'first_name' | 'last_name'
/** Variables that are derived from an email, which does not store their values. */
const EMAIL_VARIABLES = ['email', 'broadcast_id', 'unsubscribe_url', 'view_in_browser_url'] as const
type EmailVariable = (typeof EMAIL_VARIABLES)[number]

/** Includes the spellings of other services. */
const BUILT_IN = new Map<string, ContactVariable | EmailVariable>([
  ['first_name', 'first_name'],
  ['last_name', 'last_name'],
  ['email', 'email'],
  ['broadcast_id', 'broadcast_id'],
  ['unsubscribe_url', 'unsubscribe_url'],
  ['FIRST_NAME', 'first_name'],
  ['LAST_NAME', 'last_name'],
  ['EMAIL', 'email'],
  ['UNSUBSCRIBE_URL', 'unsubscribe_url'],
  ['RESEND_UNSUBSCRIBE_URL', 'unsubscribe_url'],
  ['view_in_browser_url', 'view_in_browser_url'],
  ['VIEW_IN_BROWSER_URL', 'view_in_browser_url'],
])

/** Optional prefix of variables of a contact. */
const CONTACT = 'contact.'

/** @returns the built-in variable of a placeholder, or undefined for a property of the contact */
export function builtInOf(name: string): ContactVariable | EmailVariable | undefined {
  return BUILT_IN.get(propertyOf(name))
}

/** @returns the key of a property: `city` for `contact.city` */
export function propertyOf(name: string): string {
  return name.startsWith(CONTACT) ? name.slice(CONTACT.length) : name
}

/** Tells whether a placeholder names one of these properties. */
export function isAmong(keys: ReadonlySet<string>, name: string): boolean {
  return keys.has(name) || keys.has(propertyOf(name))
}

export function isEmailVariable(variable: string | undefined): variable is EmailVariable {
  return (EMAIL_VARIABLES as readonly (string | undefined)[]).includes(variable)
}
