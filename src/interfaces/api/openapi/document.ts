/** Generates the OpenAPI 3.1 document from the routes and the schemas that validate their requests. */
import type * as z from 'zod'
import { SCOPES } from '../../../resources/accounts/scopes.ts'
import { errorSchema } from '../api-error.ts'
import type { Route } from '../route/route.ts'
import { scopesOfRoute } from '../route/route-scopes.ts'
import { requestBodyOf } from './bodies.ts'
import { DESCRIPTIONS } from './descriptions.ts'
import { createSchemas, type JsonObject, type Schemas } from './json-schemas.ts'
import { operationIdOf } from './operation-ids.ts'
import { parametersOf } from './parameters.ts'
import { errorComponents, HEADERS, repliesOf } from './replies.ts'
import { tagObjects, tagOf } from './tags.ts'

/** Request and reply of an operation. */
export interface Example {
  request?: unknown
  reply?: unknown
}

interface DocumentOptions {
  routes: readonly Route[]
  /** Name of the session cookie. */
  cookieName: string
  /** Examples by operation id. */
  examples?: Readonly<Record<string, Example>>
  /** Values of this installation by the name of the key in requests, such as its regions. */
  values?: Readonly<Record<string, readonly string[]>>
}

const ABOUT =
  'Keys are snake_case, times ISO 8601 in UTC. In a request, null means that a key is absent, and so does an empty ' +
  'list in place of a list; unknown keys are ignored. Fields of the SDKs that are not applied are refused or named ' +
  'in `warnings` of the reply. An empty id or time is refused. Ids are accepted with and without their prefix. ' +
  'Replies may contain additional fields.'
/** Public routes that check a credential of their own. */
const OWN_SECURITY: Readonly<Record<string, JsonObject[]>> = { '/metrics': [{ metricsToken: [] }] }

export function openapiOf({ routes, cookieName, examples = {}, values = {} }: DocumentOptions): JsonObject {
  // names of schemas depend on the order
  const sorted = [...routes].sort((a, b) => compare(a.path, b.path) || compare(a.method, b.method))
  const schemas = createSchemas([errorSchema, ...sorted.flatMap(schemasOf)], values)
  const paths: Record<string, JsonObject> = {}
  for (const route of sorted) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    const id = operationIdOf(route, routes)
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operationOf(route, id, schemas, examples[id]),
    }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Mailhorn',
      version: '1',
      summary: 'Self-hosted e-mail platform',
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The operator of this installation' },
    },
    servers: [{ url: '/', description: 'This installation' }],
    tags: tagObjects(new Set(routes.map(({ path }) => tagOf(path)))),
    paths,
    components: {
      schemas: schemas.components(),
      responses: errorComponents(schemas.ofReply(errorSchema, 'Error')),
      headers: HEADERS,
      securitySchemes: securitySchemesOf(cookieName),
    },
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function securitySchemesOf(cookieName: string): JsonObject {
  return {
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
    metricsToken: { type: 'http', scheme: 'bearer', description: 'The setting `metrics.token`.' },
  }
}

/** Lists the alternatives of credentials; of an access token, with the scopes that it needs. */
function securityOf(route: Route): JsonObject[] {
  const own = OWN_SECURITY[route.path]
  if (own) return own
  if (route.access === 'public') return []
  const scopes = scopesOfRoute(route)
  return [
    ...(route.access === 'key' ? [{ apiKey: [] }] : []),
    ...(scopes.includes('session') ? [] : [{ accessToken: scopes }]),
    { session: [] },
    { cookie: [] },
  ]
}

function operationOf(route: Route, operationId: string, schemas: Schemas, example: Example = {}): JsonObject {
  const { path, summary } = route
  const parameters = parametersOf(route, schemas.ofParameter)
  const requestBody = requestBodyOf(route, schemas, operationId, example.request)
  return {
    operationId,
    summary,
    description: DESCRIPTIONS[operationId] ?? `${summary.replace(/\.$/, '')}.`,
    tags: [tagOf(path)],
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: repliesOf(route, schemas, operationId, example.reply),
  }
}

function schemasOf({ body, query = {}, headers = {}, replies }: Route): z.ZodType[] {
  const ofReplies = Object.values(replies).filter(reply => typeof reply !== 'string')
  return [...(body ? [body] : []), ...Object.values(query), ...Object.values(headers), ...ofReplies]
}
