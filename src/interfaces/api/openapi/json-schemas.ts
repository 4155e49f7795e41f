/**
 * Converts the zod schemas of all routes to JSON schemas for the OpenAPI document, and gives a name to the
 * bodies of requests and replies, so that generated clients have a type such as `SendEmailRequest` to import.
 * Equal schemas share one name.
 */
import * as z from 'zod'
import { singular, typeNameOf } from './operation-ids.ts'

export type JsonObject = Record<string, unknown>

export interface Schemas {
  /** Returns the JSON schema of a parameter. */
  ofParameter(schema: z.ZodType): JsonObject
  /**
   * Returns a reference to the JSON schema of a body.
   * @param change adds what zod cannot express
   */
  ofRequest(schema: z.ZodType, operationId: string, change: (schema: JsonObject) => JsonObject): JsonObject
  ofReply(schema: z.ZodType, operationId: string): JsonObject
  /** Returns all schemas that have a name. */
  components(): JsonObject
}

/** Matches the patterns of ids in replies, such as `^eml_[0-9a-f]{8}-…$`. */
const ID_PATTERN = /^\^([a-z]+)_\[0-9a-f\]\{8\}-/
const UUID_PATTERN = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

/**
 * Converts all schemas at once, so that each schema with a name becomes one component.
 * @param values allowed values of texts in requests, by the name of their key
 */
export function createSchemas(
  all: readonly z.ZodType[],
  values: Readonly<Record<string, readonly string[]>>,
): Schemas {
  const keyOf = new Map(all.map((schema, i) => [schema, `schema${i}`]))
  const object = z.object(Object.fromEntries([...keyOf].map(([schema, key]) => [key, schema])))
  const converted = z.toJSONSchema(object, {
    io: 'input',
    override({ jsonSchema }) {
      delete jsonSchema.id
    },
  })
  const { properties, $defs } = tidy(
    JSON.parse(JSON.stringify(converted).replaceAll('#/$defs/', '#/components/schemas/')),
  ) as { properties: Record<string, JsonObject>; $defs: Record<string, JsonObject> }
  const shown = (schema: z.ZodType) => properties[keyOf.get(schema)!]!
  const components = createComponents($defs)
  return {
    ofParameter: shown,
    ofRequest(schema, operationId, change) {
      const names = [`${typeNameOf(operationId)}Request`]
      const body = withNulls(withValues(change(structuredClone(shown(schema))), values))
      if (body.type !== 'array') return components.add(body, names)
      return { ...body, items: components.add(body.items as JsonObject, names) }
    },
    ofReply: (schema, operationId) => nameReply(shown(schema), typeNameOf(operationId), components),
    components: () => components.all,
  }
}

interface Components {
  all: Record<string, JsonObject>
  /**
   * @param names names in the order of preference: the first that is free, else the last one with a number
   */
  add(schema: JsonObject, names: readonly string[]): JsonObject
}

function createComponents(all: Record<string, JsonObject>): Components {
  const nameOf = new Map(Object.entries(all).map(([name, schema]) => [JSON.stringify(schema), name]))
  const numbered = (name: string) => {
    for (let n = 2; ; n++) if (!(`${name}${n}` in all)) return `${name}${n}`
  }
  return {
    all,
    add(schema, names) {
      if ('$ref' in schema) return schema
      const text = JSON.stringify(schema)
      const name = nameOf.get(text) ?? names.find(wanted => !(wanted in all)) ?? numbered(names.at(-1)!)
      nameOf.set(text, name)
      all[name] = schema
      return { $ref: `#/components/schemas/${name}` }
    },
  }
}

/** Names a reply and the rows of a list, by the value of their `object` key if it is free. */
function nameReply(schema: JsonObject, operation: string, components: Components): JsonObject {
  const fallback = `${operation}Response`
  if (schema.type === 'array')
    return {
      ...schema,
      items: components.add(schema.items as JsonObject, [`${singular(operation.replace(/^List/, ''))}Row`]),
    }
  const properties = schema.properties as Record<string, JsonObject> | undefined
  const kind = properties?.object?.const as string | undefined
  const data = properties?.data
  if (!properties || !kind) return components.add(schema, [fallback])
  if (kind !== 'list' || !data) {
    const isDeleted = properties.deleted?.const === true
    return components.add(schema, [`${isDeleted ? 'Deleted' : ''}${pascal(kind)}`, fallback])
  }
  const items = data.items as JsonObject
  const rowKind = (items.properties as Record<string, JsonObject> | undefined)?.object?.const as
    | string
    | undefined
  const noun = singular(operation.replace(/^List/, ''))
  const row = components.add(items, [...(rowKind ? [pascal(rowKind)] : []), noun, `${noun}Row`])
  const rowName = String(row.$ref).split('/').at(-1)!.replace(/Row$/, '')
  const list = { ...schema, properties: { ...properties, data: { ...data, items: row } } }
  return components.add(list, [`${rowName}List`, fallback])
}

function pascal(kind: string): string {
  return kind
    .split('_')
    .map(word => word[0]!.toUpperCase() + word.slice(1))
    .join('')
}

/**
 * Removes bounds that only say that a number is an integer, allows ids without their prefix, and says of open
 * lists and objects that they may contain anything, which generators do not assume.
 */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy)
  if (typeof value !== 'object' || value === null) return value
  const schema = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, tidy(child)]))
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  const prefix = typeof schema.pattern === 'string' && ID_PATTERN.exec(schema.pattern)?.[1]
  if (prefix) schema.pattern = `^(?:${prefix}_)?${UUID_PATTERN}$`
  if (schema.type === 'array' && !('items' in schema) && !('prefixItems' in schema)) schema.items = {}
  if (
    [schema.type].flat().includes('object') &&
    !('properties' in schema) &&
    !('additionalProperties' in schema)
  )
    schema.additionalProperties = {}
  return schema
}

function withValues(schema: JsonObject, values: Readonly<Record<string, readonly string[]>>): JsonObject {
  const { properties } = schema as { properties?: Record<string, JsonObject> }
  if (!properties) return schema
  const known = Object.entries(properties).map(([key, child]) => {
    const allowed = child.type === 'string' && Object.hasOwn(values, key) ? values[key] : undefined
    return [key, allowed ? { ...child, enum: allowed } : child]
  })
  return { ...schema, properties: Object.fromEntries(known) }
}

/** Allows null for every optional key of a body, because null means absent. */
function withNulls(schema: JsonObject): JsonObject {
  if (schema.type === 'array') return { ...schema, items: withNulls(schema.items as JsonObject) }
  const { properties, required = [] } = schema as {
    properties?: Record<string, JsonObject>
    required?: string[]
  }
  if (!properties) return schema
  const nullable = Object.entries(properties).map(([key, child]) => [
    key,
    required.includes(key) ? child : orNull(child),
  ])
  return { ...schema, properties: Object.fromEntries(nullable) }
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values, anyOf, ...rest } = schema
  if (Array.isArray(anyOf))
    return anyOf.some(({ type }) => type === 'null')
      ? schema
      : { ...schema, anyOf: [...anyOf, { type: 'null' }] }
  if ('$ref' in schema || 'const' in schema) return { anyOf: [schema, { type: 'null' }] }
  if (type === undefined) return schema
  const types = [type].flat()
  if (types.includes('null')) return schema
  return { ...rest, type: [...types, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }) }
}
