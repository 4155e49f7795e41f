/** Values made after a JSON schema, good ones and such as have been spoilt in one place or several. */
import { type Arbitrary, fc } from './property.ts'

interface JsonSchema {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: JsonSchema[]
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  items?: JsonSchema
  maxItems?: number
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: JsonSchema | boolean
}

/** Texts that are good for a property, by its name; others are made up. */
export type Vocabulary = ReadonlyMap<string, readonly string[]>

const LIST_LENGTH_MAX = 3
const TEXT_LENGTH_MAX = 300
const OPTIONAL_KEYS_MAX = 4

/** Values that people do not think of. */
export const oddValue: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      null,
      true,
      false,
      0,
      -1,
      1.5,
      -0,
      1e308,
      2 ** 53,
      [],
      {},
      [null],
      [[]],
      '',
      ' ',
      '\0',
      '\r\n',
      '\ud800',
    ],
    ...['__proto__', 'constructor', 'toString', '../..', '%00', "' or 1=1 --", '{{a}}', '{{{', '\u202e', '𝒳'],
    ...[{ constructor: { prototype: { x: 1 } } }, { toString: 1, length: -1 }],
    ...['x'.repeat(5_000), Array(200).fill(0), Array(300).fill('a@b.example'), nested(40)],
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
)

function nested(levels: number): unknown {
  return levels === 0 ? 'deep' : { a: [nested(levels - 1)] }
}

/** A value that the schema allows; what only the code behind it checks comes from the vocabulary, mostly. */
export function goodValue(schema: JsonSchema, words: Vocabulary, name = ''): Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(one => goodValue(one, words, name)))
  switch (schema.type) {
    case 'object':
      return objectOf(schema, words)
    case 'array':
      return fc.array(goodValue(schema.items ?? {}, words, name), {
        maxLength: Math.min(schema.maxItems ?? LIST_LENGTH_MAX, LIST_LENGTH_MAX),
      })
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -10, max: Math.min(schema.maximum ?? 1_000, 1_000) })
    case 'boolean':
      return fc.boolean()
    case 'string':
      return textOf(schema, words.get(name))
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function textOf({ minLength = 0, maxLength = TEXT_LENGTH_MAX }: JsonSchema, known: readonly string[] = []) {
  const made = fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, TEXT_LENGTH_MAX) })
  return known.length === 0 ? made : fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known) }, made)
}

/** Makes objects with few of their optional keys: a request with all of them is seldom valid. */
function objectOf(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  words: Vocabulary,
): Arbitrary<object> {
  const further = typeof additionalProperties === 'object' ? additionalProperties : {}
  const values = Object.entries(properties).map(([key, value]) => [key, goodValue(value, words, key)])
  if (values.length === 0) return fc.dictionary(fc.string({ maxLength: 12 }), goodValue(further, words))
  const whole = fc.record(Object.fromEntries(values) as Record<string, Arbitrary<unknown>>)
  const optional = Object.keys(properties).filter(key => !required.includes(key))
  return fc
    .tuple(whole, fc.subarray(optional, { maxLength: Math.min(optional.length, OPTIONAL_KEYS_MAX) }))
    .map(([object, remaining]) =>
      Object.fromEntries(
        Object.entries(object).filter(([key]) => required.includes(key) || remaining.includes(key)),
      ),
    )
}

/** The value with an odd one in place of something in it, or with a key too many, once or twice. */
export function spoilt(value: Arbitrary<unknown>): Arbitrary<unknown> {
  const change = fc.record({
    at: fc.noBias(fc.nat()),
    odd: oddValue,
    key: fc.option(fc.constantFrom(...ODD_KEYS)),
  })
  return fc
    .tuple(value, fc.array(change, { minLength: 1, maxLength: 2 }))
    .map(([whole, changes]) => changes.reduce(spoil, whole))
}

/** Makes minimal values with one odd value, at any depth: whatever is parsed before it is valid. */
export function oddInOnePlace(schema: JsonSchema, words: Vocabulary): Arbitrary<unknown> {
  if (schema.items) return fc.tuple(oddInOnePlace(schema.items, words))
  const keys = Object.entries(schema.properties ?? {})
  if (keys.length === 0) return oddValue
  const required = keys.filter(([key]) => schema.required?.includes(key))
  const lowest = fc.record(
    Object.fromEntries(required.map(([key, value]) => [key, goodValue(value, words, key)])),
  )
  return fc.oneof(
    ...keys.map(([key, value]) => {
      const odd = fc.oneof(oddValue, oddInOnePlace(value, words))
      return fc.tuple(lowest, odd).map(([object, item]) => ({ ...object, [key]: item }))
    }),
  )
}

const ODD_KEYS = ['__proto__', 'constructor', 'id', 'replyTo', 'scheduledAt', 'contentType', '', 'toString']

interface Change {
  at: number
  odd: unknown
  key: string | null
}

/** A copy; which of its values it is counts in the order in which they are met. */
function spoil(whole: unknown, { at, odd, key }: Change): unknown {
  let left = at % countOf(whole)
  const walk = (value: unknown): unknown => {
    if (left-- === 0) {
      if (key === null || !isRecord(value)) return odd
      return Object.defineProperty({ ...value }, key, { value: odd, enumerable: true })
    }
    if (Array.isArray(value)) return value.map(walk)
    if (!isRecord(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item)]))
  }
  return walk(whole)
}

function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, item) => sum + countOf(item), 1)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
