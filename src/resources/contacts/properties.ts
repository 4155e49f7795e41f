/** Custom properties of a contact: strings, numbers and booleans under keys chosen by the user. */
import { foldText } from '../../lib/fold-text.ts'
import {
  CONTACT_NAME_CHARACTERS_MAX,
  FOLDED_NAME_BYTES_MAX,
  FOLDED_VALUE_BYTES_MAX,
  KEY_CHARACTERS_MAX,
  VALUE_CHARACTERS_MAX,
} from './limits.ts'

export type PropertyValue = string | number | boolean

/** By key, in the order in which they were first given. */
export type Properties = ReadonlyMap<string, PropertyValue>

/** What broadcasts already call something else by. */
const TAKEN = new Set(['email', 'first_name', 'last_name', 'unsubscribed', 'unsubscribe_url', 'broadcast_id'])

/** Why a text is no key; it completes the sentence "The key …". Undefined when it is one. */
export function keyFault(key: string): string | undefined {
  if (key === '') return 'is empty'
  if (key.length > KEY_CHARACTERS_MAX) return `has more than ${KEY_CHARACTERS_MAX} characters`
  if (/[\p{Cc}{}|]/u.test(key)) return 'contains a brace, a bar or a control character'
  if (key.trim() !== key) return 'begins or ends with white space'
  if (!key.isWellFormed()) return 'is not well-formed Unicode'
  return TAKEN.has(key) ? 'is the name of something that every contact has' : undefined
}

/** Why a value cannot be kept; it completes the sentence "The value …". Undefined when it can. */
export function valueFault(value: PropertyValue): string | undefined {
  if (typeof value !== 'string') return undefined
  return textFault(value, VALUE_CHARACTERS_MAX, FOLDED_VALUE_BYTES_MAX)
}

/** The same of a first or last name. */
export function nameFault(name: string): string | undefined {
  return textFault(name, CONTACT_NAME_CHARACTERS_MAX, FOLDED_NAME_BYTES_MAX)
}

function textFault(text: string, mostCharacters: number, mostFoldedBytes: number): string | undefined {
  if (text.length > mostCharacters) return `has more than ${mostCharacters} characters`
  if (/[\r\n\0]/.test(text)) return 'contains a line break or NUL'
  if (!text.isWellFormed()) return 'is not well-formed Unicode'
  if (Buffer.byteLength(foldText(text)) > mostFoldedBytes) return 'is too long for an index'
  return undefined
}

/** As it is compared. */
export function foldValue(value: PropertyValue): string {
  return foldText(String(value))
}

export function readProperties(json: string): Properties {
  return new Map(Object.entries(JSON.parse(json) as Record<string, PropertyValue>))
}

export function propertiesJson(properties: Properties): string {
  return JSON.stringify(Object.fromEntries(properties))
}

/** A null takes the key away. */
export function mergeProperties(
  properties: Properties,
  changes: ReadonlyMap<string, PropertyValue | null>,
): Properties {
  const merged = new Map(properties)
  for (const [key, value] of changes)
    if (value === null) merged.delete(key)
    else merged.set(key, value)
  return merged
}
