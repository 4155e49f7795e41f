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

/** Values by key, in the order of their creation. */
export type Properties = ReadonlyMap<string, PropertyValue>

/** Columns of the built-in fields in contact files. */
export const FIELD_COLUMNS = ['email', 'first_name', 'last_name', 'unsubscribed'] as const
export type FieldColumn = (typeof FIELD_COLUMNS)[number]

/** Names that broadcasts use for built-in fields. */
const TAKEN = new Set<string>([...FIELD_COLUMNS, 'unsubscribe_url', 'view_in_browser_url', 'broadcast_id'])

/** @returns the rule that a property key breaks, such as "must not be empty", or undefined for a valid key */
export function keyFault(key: string): string | undefined {
  if (key === '') return 'must not be empty'
  if (key.length > KEY_CHARACTERS_MAX)
    return `must contain at most ${KEY_CHARACTERS_MAX} characters; got ${key.length}`
  if (/[\p{Cc}{}|]/u.test(key)) return 'must not contain `{`, `}`, `|` or control characters'
  if (key.trim() !== key) return 'must not begin or end with white space'
  if (!key.isWellFormed()) return 'must be well-formed Unicode'
  return TAKEN.has(key) ? 'must not be the name of a built-in field' : undefined
}

/** @returns the rule that a property value breaks, or undefined for a valid value */
export function valueFault(value: PropertyValue): string | undefined {
  if (typeof value !== 'string') return undefined
  return textFault(value, VALUE_CHARACTERS_MAX, FOLDED_VALUE_BYTES_MAX)
}

/** @returns the rule that a first or last name breaks, or undefined for a valid name */
export function nameFault(name: string): string | undefined {
  return textFault(name, CONTACT_NAME_CHARACTERS_MAX, FOLDED_NAME_BYTES_MAX)
}

function textFault(text: string, maxCharacters: number, maxFoldedBytes: number): string | undefined {
  if (text.length > maxCharacters)
    return `must contain at most ${maxCharacters} characters; got ${text.length}`
  if (/[\r\n\0]/.test(text)) return 'must not contain line breaks or NUL'
  if (!text.isWellFormed()) return 'must be well-formed Unicode'
  if (Buffer.byteLength(foldText(text)) > maxFoldedBytes)
    return `must contain at most ${maxFoldedBytes} bytes of UTF-8 in lower case`
  return undefined
}

/** Folds a value for comparisons. */
export function foldValue(value: PropertyValue): string {
  return foldText(String(value))
}

export function readProperties(json: string): Properties {
  return new Map(Object.entries(JSON.parse(json) as Record<string, PropertyValue>))
}

export function propertiesJson(properties: Properties): string {
  return JSON.stringify(Object.fromEntries(properties))
}

/** A null value removes the key. */
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
