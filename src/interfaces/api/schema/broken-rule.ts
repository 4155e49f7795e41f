/**
 * Words the errors of fields and query parameters: the name of the field, the rule, and the value or its
 * size. The readers of bodies and queries (`read.ts` and the `schema.ts` of each resource) call these
 * functions.
 */

import type * as z from 'zod'
import { shortened } from '../../../lib/shortened.ts'
import { type ApiError, invalidField } from '../api-error.ts'

/** Makes the error for a query parameter. `rule` completes "must be"; `value` is quoted when it is given. */
export function invalidParameter(name: string, rule: string, value?: string): ApiError {
  const got = value === undefined ? '' : `; got ${shownValue(value)}`
  return invalidField(name, `The \`${name}\` parameter must be ${rule}${got}.`)
}

/**
 * States the rule that a value breaks, and the value or its size. A schema that has a message for its rule
 * begins the message with "must", such as "must not contain control characters".
 */
export function brokenRule(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.message.startsWith('must ')) return issue.message
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}; got ${typeOf(value)}`
    case 'invalid_union': {
      const expected = issue.errors.flatMap(([first]) =>
        first?.code === 'invalid_type' ? [first.expected] : [],
      )
      const types = [...new Set(expected)].map(type => TYPES[type] ?? type)
      return types.length > 1 ? `must be ${types.join(' or ')}; got ${typeOf(value)}` : 'is not valid'
    }
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}; got ${shownValue(value)}`
    case 'too_big':
      return `must ${sized('at most', issue.maximum, value)}`
    case 'too_small':
      return `must ${sized('at least', issue.minimum, value)}`
    default:
      return 'is not valid'
  }
}

/** Names of JSON types by the names that zod has for them. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a number with a fraction'
  return TYPES[typeof value] ?? typeof value
}

function sized(bound: 'at most' | 'at least', limit: number | bigint, value: unknown): string {
  if (typeof value === 'string') return `contain ${bound} ${limit} characters; got ${value.length}`
  if (Array.isArray(value)) return `contain ${bound} ${limit} entries; got ${value.length}`
  return `be ${bound} ${limit}${typeof value === 'number' ? `; got ${value}` : ''}`
}

const SHOWN_CHARACTERS_MAX = 60

/** Formats a value that a client sent, for an error message. */
export function shownValue(value: unknown): string {
  if (typeof value === 'object' && value !== null) return typeOf(value)
  return shortened(JSON.stringify(value) ?? typeof value, SHOWN_CHARACTERS_MAX)
}

/** Finds the value at a path of zod, undefined when there is none. */
export function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<PropertyKey, unknown>)[part]
  }
  return value
}
