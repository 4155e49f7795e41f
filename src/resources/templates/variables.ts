/** What the placeholders of a broadcast are called. Pure, and part of the dashboard, too. */

/** Variables that every contact has, beside its properties. */
type ContactVariable = 'first_name' | 'last_name'
/** Variables that follow from an email: it does not keep their values. */
type EmailVariable = 'email' | 'broadcast_id' | 'unsubscribe_url'

/** Also as the users of other services are used to write them. */
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
])

/** Names may stand below it. */
const CONTACT = 'contact.'

/** What a placeholder's name stands for; undefined for a property of the contact. */
export function builtInOf(name: string): ContactVariable | EmailVariable | undefined {
  return BUILT_IN.get(propertyOf(name))
}

/** The key of a property by a placeholder's name: `contact.city` is `city`. */
export function propertyOf(name: string): string {
  return name.startsWith(CONTACT) ? name.slice(CONTACT.length) : name
}

/** Whether a placeholder's name is that of one of these properties. */
export function isAmong(keys: ReadonlySet<string>, name: string): boolean {
  return keys.has(name) || keys.has(propertyOf(name))
}

export function isEmailVariable(variable: string | undefined): variable is EmailVariable {
  return variable === 'email' || variable === 'broadcast_id' || variable === 'unsubscribe_url'
}
