/** Converts a contact to form fields and back to the changes. Pure functions. */
import type { Contact } from '../api/types.ts'

type Properties = Contact['properties']

export interface ContactForm {
  email: string
  first: string
  last: string
  unsubscribed: boolean
  /** One property per line, as `key: value`. */
  properties: string
}

export function formOf(contact: Contact | undefined): ContactForm {
  return {
    email: contact?.email ?? '',
    first: contact?.first_name ?? '',
    last: contact?.last_name ?? '',
    unsubscribed: contact?.unsubscribed ?? false,
    properties: linesOf(contact?.properties ?? {}),
  }
}

/** Returns all fields of a new contact. */
export function contactBody({ email, first, last, unsubscribed, properties }: ContactForm): object {
  return {
    ...{ email, first_name: first, last_name: last, unsubscribed },
    properties: propertiesOf(properties, {}),
  }
}

/**
 * Returns only the fields that differ from the opened form. The contact may have changed in the meantime; for
 * example, an unsubscribe must not be reverted by saving a new name.
 */
export function contactChanges(contact: Contact, form: ContactForm): object {
  const before = formOf(contact)
  return {
    ...(form.email !== before.email && { email: form.email }),
    ...(form.first !== before.first && { first_name: form.first }),
    ...(form.last !== before.last && { last_name: form.last }),
    ...(form.unsubscribed !== before.unsubscribed && { unsubscribed: form.unsubscribed }),
    ...(form.properties !== before.properties && {
      properties: propertyChanges(form.properties, contact.properties),
    }),
  }
}

function linesOf(properties: Properties): string {
  return Object.entries(properties)
    .map(([key, value]) => lineOf(key, value))
    .join('\n')
}

function lineOf(key: string, value: Properties[string]): string {
  return `${key}: ${value}`
}

/** Keys missing from the text are deleted; values that read the same keep their type. */
function propertyChanges(text: string, former: Properties): Record<string, Properties[string] | null> {
  const named = propertiesOf(text, former)
  const gone = Object.keys(former).filter(key => !Object.hasOwn(named, key))
  return Object.fromEntries([
    ...gone.map(key => [key, null] as const),
    ...Object.entries(named).filter(([key, value]) => !Object.hasOwn(former, key) || former[key] !== value),
  ])
}

/** @param former keys that may contain colons; the longest key that a line begins with is used */
function propertiesOf(text: string, former: Properties): Properties {
  const known = Object.keys(former).sort((a, b) => b.length - a.length)
  const lines = text.split('\n').filter(line => line.trim() !== '')
  return Object.fromEntries(
    lines.map(line => {
      const same = known.find(key => lineOf(key, former[key]!) === line)
      if (same !== undefined) return [same, former[same]!]
      const key = known.find(name => line.trim().startsWith(`${name}:`)) ?? line.split(':', 1)[0]!.trim()
      const value = line
        .trim()
        .slice(key.length + 1)
        .trim()
      const was = Object.hasOwn(former, key) ? former[key] : undefined
      return [key, was !== undefined && String(was) === value ? was : value]
    }),
  )
}
