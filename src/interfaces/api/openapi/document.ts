/** Generates the OpenAPI 3.1 document from the routes and the schemas that validate their requests. */
import * as z from 'zod'
import { SCOPES } from '../../../resources/accounts/scopes.ts'
import { errorSchema } from '../api-error.ts'
import type { Route } from '../route.ts'
import { scopesOfRoute } from '../route-scopes.ts'

type Json = Record<string, unknown>

const ERROR = { $ref: '#/components/responses/Error' }
const ABOUT =
  'Keys are snake_case, times ISO 8601 in UTC. In a request, null and empty lists mean that a key is absent, and ' +
  'unknown keys are ignored. Ids are accepted with and without their prefix. Replies may contain additional fields.'

/** @param cookieName name of the session cookie */
export function openapiOf(routes: readonly Route[], cookieName: string): Json {
  const { shown, named } = jsonSchemasOf(routes)
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, shown) }
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Mailhorn', version: '1', description: ABOUT },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: named,
      responses: {
        Error: { description: 'Refused', content: { 'application/json': { schema: shown(errorSchema) } } },
      },
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key.' },
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          description: `An access token with the listed scopes. \`full\` includes all scopes but \`operator\`, and \`<resource>:write\` includes all scopes of the resource. Scopes: ${SCOPES.map(scope => `\`${scope}\``).join(', ')}.`,
        },
        session: {
          type: 'http',
          scheme: 'bearer',
          description: '`token` of the reply to `POST /auth/login` of a script.',
        },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: cookieName,
          description: "A browser's session; writes must come from the same origin.",
        },
      },
    },
  }
}

type Shown = (schema: z.ZodType) => Json

function operationOf(route: Route, shown: Shown): Json {
  const { method, path, summary, body, bodyType, query = {}, headers = {}, replies } = route
  const parameters = [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
      ...{ name, in: 'path', required: true },
      schema: { type: 'string' },
    })),
    ...parametersOf('query', query, shown),
    ...parametersOf('header', headers, shown),
  ]
  return {
    operationId: `${method.toLowerCase()}${path.replace(/\W+/g, '_')}`,
    summary,
    tags: [path.split('/')[1]],
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { 'application/json': { schema: shown(body) } },
      },
    }),
    ...(bodyType !== undefined && { requestBody: { required: true, content: { [bodyType]: {} } } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(replies).map(([status, reply]) => [status, responseOf(reply, shown)]),
      ),
      default: ERROR,
    },
  }
}

/** Lists the alternatives of credentials; of an access token, with the scopes that it needs. */
function securityOf(route: Route): Json[] {
  if (route.access === 'public') return []
  const scopes = scopesOfRoute(route)
  return [
    ...(route.access === 'key' ? [{ apiKey: [] }] : []),
    ...(scopes.includes('session') ? [] : [{ accessToken: scopes }]),
    { session: [] },
    { cookie: [] },
  ]
}

function parametersOf(place: 'query' | 'header', schemas: Readonly<Record<string, z.ZodType>>, shown: Shown) {
  return Object.entries(schemas).map(([name, schema]) => {
    const { description, ...rest } = shown(schema)
    return {
      name,
      in: place,
      required: !schema.safeParse(undefined).success,
      ...(description !== undefined && { description }),
      schema: rest,
    }
  })
}

function responseOf(reply: z.ZodType | string, shown: Shown): Json {
  if (typeof reply === 'string') return { description: 'Done', content: { [reply]: {} } }
  return { description: 'Done', content: { 'application/json': { schema: shown(reply) } } }
}

/** Converts all schemas at once, so that those with a name become one component each. */
function jsonSchemasOf(routes: readonly Route[]): { shown: Shown; named: Json } {
  const schemas = [errorSchema, ...routes.flatMap(schemasOf)]
  const keyOf = new Map(schemas.map((schema, i) => [schema, `schema${i}`]))
  const all = z.object(Object.fromEntries([...keyOf].map(([schema, key]) => [key, schema])))
  const converted = z.toJSONSchema(all, {
    io: 'input',
    override({ jsonSchema }) {
      delete jsonSchema.id
    },
  })
  const { properties, $defs } = JSON.parse(
    JSON.stringify(converted).replaceAll('#/$defs/', '#/components/schemas/'),
  ) as { properties: Record<string, Json>; $defs: Json }
  return { shown: schema => properties[keyOf.get(schema)!]!, named: $defs }
}

function schemasOf({ body, query = {}, headers = {}, replies }: Route): z.ZodType[] {
  const ofReplies = Object.values(replies).filter(reply => typeof reply !== 'string')
  return [...(body ? [body] : []), ...Object.values(query), ...Object.values(headers), ...ofReplies]
}
