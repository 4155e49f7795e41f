/**
 * The contact entity: builds a new row, applies changes to a row, and renders a row for the API and for
 * events. Pure functions without access to the store.
 *
 * In: validated fields from the API, the dashboard or an import. Out: `ContactRow` for `write-contacts.ts`,
 * `ContactView` for responses and webhook events. Called by the commands of this folder and by the API's
 * contact routes.
 */
import { foldText } from '../../lib/fold-text.ts'
import { type Id, wireId } from '../../lib/ids.ts'
import type { ContactRow } from '../../store/model/schema.ts'
import {
  mergeProperties,
  type Properties,
  type PropertyValue,
  propertiesJson,
  readProperties,
} from './properties.ts'

export interface ContactFields {
  /** Address in lower case. */
  email: string
  firstName: string | null
  lastName: string | null
  unsubscribed: boolean
  properties: Properties
}

/** Fields to change; absent fields are left unchanged. */
export interface ContactChanges extends Partial<Omit<ContactFields, 'properties'>> {
  /** Merged into the existing properties; null removes a property. */
  properties?: ReadonlyMap<string, PropertyValue | null>
}

/** Identifies a contact within an audience by its id or by its lower-case address. */
export type ContactRef = { id: Id } | { email: string }

export interface ContactPlace {
  accountId: Id
  audienceId: Id
}

/**
 * Scope of an unsubscribe or resubscribe: this contact (the default), or its address in all audiences of the
 * account.
 */
export type Reach = 'contact' | 'account'

export function newContact(
  { accountId, audienceId }: ContactPlace,
  id: Id,
  fields: ContactFields,
  at: number,
): ContactRow {
  const { email, firstName, lastName, unsubscribed, properties } = fields
  return {
    ...{ accountId, audienceId, id },
    ...textsOf({ email, firstName, lastName }),
    unsubscribed: unsubscribed ? 1 : 0,
    properties: propertiesJson(properties),
    createdAt: at,
    updatedAt: at,
    importId: null,
    importRow: null,
  }
}

export function changedContact(row: ContactRow, changes: ContactChanges, at: number): ContactRow {
  const { properties, unsubscribed, ...texts } = changes
  const { email, firstName, lastName } = { ...row, ...texts }
  return {
    ...row,
    ...textsOf({ email, firstName, lastName }),
    ...(unsubscribed !== undefined && { unsubscribed: unsubscribed ? 1 : 0 }),
    ...(properties && {
      properties: propertiesJson(mergeProperties(readProperties(row.properties), properties)),
    }),
    updatedAt: at,
  }
}

/** Compares two rows of a contact, ignoring `updatedAt`. */
export function hasSameFields(one: ContactRow, other: ContactRow): boolean {
  return (
    one.email === other.email &&
    one.firstName === other.firstName &&
    one.lastName === other.lastName &&
    one.unsubscribed === other.unsubscribed &&
    one.properties === other.properties
  )
}

/**
 * Renders a contact for the API and for events.
 * @param unsubscribedTopics topics the contact is unsubscribed from
 */
export function contactView(row: ContactRow, unsubscribedTopics: readonly Id[]) {
  return {
    object: 'contact' as const,
    id: wireId('con', row.id),
    audience_id: wireId('aud', row.audienceId),
    email: row.email,
    first_name: row.firstName,
    last_name: row.lastName,
    unsubscribed: row.unsubscribed === 1,
    properties: Object.fromEntries(readProperties(row.properties)),
    unsubscribed_topics: unsubscribedTopics.map(id => wireId('top', id)),
    created_at: new Date(row.createdAt).toISOString(),
    updated_at: new Date(row.updatedAt).toISOString(),
  }
}

export type ContactView = ReturnType<typeof contactView>

function textsOf({ email, firstName, lastName }: Pick<ContactFields, 'email' | 'firstName' | 'lastName'>) {
  return {
    email,
    foldedEmail: foldText(email),
    firstName,
    foldedFirstName: firstName === null ? null : foldText(firstName),
    lastName,
    foldedLastName: lastName === null ? null : foldText(lastName),
  }
}
