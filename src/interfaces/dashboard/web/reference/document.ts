/** Reads `/openapi.json` for the reference page. */

export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  format?: string
  const?: unknown
  enum?: unknown[]
  default?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  additionalProperties?: Schema | boolean
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: Schema
}

interface Media {
  schema?: Schema
  example?: unknown
}

export type Content = Record<string, Media>

interface Reply {
  $ref?: string
  description: string
  content?: Content
}

interface Described {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Record<string, unknown>[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Reply>
}

export interface Operation extends Described {
  method: string
  path: string
}

export interface OpenapiDocument {
  info: { title: string; description: string }
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Reply> }
}

export async function loadDocument(): Promise<OpenapiDocument> {
  const reply = await fetch('/openapi.json')
  if (!reply.ok) throw new Error(`/openapi.json: ${reply.status}`)
  return (await reply.json()) as OpenapiDocument
}

export function operationsOf({ paths }: OpenapiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      ...described,
      path,
      method: method.toUpperCase(),
    })),
  )
}

const nameIn = ($ref: string) => $ref.split('/').at(-1)!

export function resolved(schema: Schema, { components }: OpenapiDocument): Schema {
  return schema.$ref ? (components.schemas[nameIn(schema.$ref)] ?? {}) : schema
}

export function replyOf(reply: Reply, { components }: OpenapiDocument): Reply {
  return reply.$ref ? components.responses[nameIn(reply.$ref)]! : reply
}

/** Returns a short text for the type of a value, such as `string | null` or `Email[]`. */
export function typeText(schema: Schema): string {
  if (schema.$ref) return nameIn(schema.$ref)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' | ')
  const alternatives = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf)
  if (alternatives) return [...new Set(alternatives.map(typeText))].join(' | ')
  const types = [schema.type ?? 'any'].flat()
  return types
    .map(type => (type === 'array' && schema.items ? `${typeText(schema.items)}[]` : type))
    .join(' | ')
}

/** Returns the schema whose properties are worth listing: the object itself, or the entries of a list. */
export function listedIn(schema: Schema, document: OpenapiDocument): Schema {
  const found = resolved(schema, document)
  return found.items ? resolved(found.items, document) : found
}
