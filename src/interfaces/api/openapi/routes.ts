/** Serves the OpenAPI document and the text about the API for language models. */

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import * as z from 'zod'
import { acceptsGzip } from '../../../lib/accept-encoding.ts'
import type { SessionCookie } from '../auth/cookie.ts'
import type { ApiRequest, RawHttpReply, Route } from '../route/route.ts'
import { openapiOf } from './document.ts'
import { operationIdOf } from './operation-ids.ts'
import { tagObjects, tagOf } from './tags.ts'

interface OpenapiRoutesOptions {
  /** All other routes. */
  routes: readonly Route[]
  cookie: SessionCookie
  regions: readonly string[]
  plans: readonly string[]
}

const openapiSchema = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.looseObject({})),
  components: z.looseObject({}),
})

export function openapiRoutes({ routes, cookie, regions, plans }: OpenapiRoutesOptions): Route[] {
  let document: Promise<Compressed> | undefined
  let text: Promise<Compressed> | undefined
  const describe = async () => {
    const { default: examples } = await import('./examples.json', { with: { type: 'json' } })
    const values = { region: regions, plan: plans }
    return compressed(
      JSON.stringify(openapiOf({ routes: [...routes, ...own], cookieName: cookie.name, examples, values })),
    )
  }
  const own: Route[] = [
    {
      method: 'GET',
      path: '/openapi.json',
      access: 'public',
      summary: 'OpenAPI document',
      replies: { 200: openapiSchema },
      async handle(request) {
        document ??= describe()
        return rawReply(request, 'application/json; charset=utf-8', await document)
      },
    },
    {
      method: 'GET',
      path: '/llms.txt',
      access: 'public',
      summary: 'The API for language models, as plain text',
      replies: { 200: 'text/plain' },
      async handle(request) {
        text ??= compressed(llmsTextOf([...routes, ...own]))
        return rawReply(request, 'text/plain; charset=utf-8', await text)
      },
    },
  ]
  return own
}

interface Compressed {
  plain: Uint8Array
  gzip: Uint8Array
}

async function compressed(text: string): Promise<Compressed> {
  return { plain: Buffer.from(text), gzip: await promisify(gzip)(text) }
}

function rawReply(
  { headers }: Pick<ApiRequest, 'headers'>,
  type: string,
  { plain, gzip }: Compressed,
): RawHttpReply {
  const common = { 'content-type': type, vary: 'accept-encoding' }
  if (!acceptsGzip(String(headers['accept-encoding'] ?? '')))
    return { status: 200, headers: common, content: plain }
  return { status: 200, headers: { ...common, 'content-encoding': 'gzip' }, content: gzip }
}

const ABOUT = `# Mailhorn

> Self-hosted e-mail platform. JSON over HTTP at the root of the base URL. The Resend SDKs work with this base URL.

- Authenticate with \`Authorization: Bearer <access token or API key>\`.
  - An access token (by default \`mh_…\`) does all that its scopes cover; \`full\` covers everything but the routes of operators,
    sign-in and access tokens.
  - An API key (by default \`re_…\`) sends and reads email, received mail and suppressions. On other routes it is answered 401.
  - People create both in the dashboard, and operators with \`mailhorn token create\` and \`mailhorn key create\`. Programs need a
    session for \`POST /access-tokens\`: \`POST /auth/login {email, password}\` returns it as \`token\`.
- Unknown keys of a body are ignored. Fields of the SDKs that are not applied are refused or named in \`warnings\` of the reply.
- Send with \`POST /emails {from, to, subject, html or text}\`. Give an \`Idempotency-Key\` header, so that the request can be
  repeated without a second email.
- Keys are snake_case, times ISO 8601 in UTC. An error is \`{statusCode, name, message, errors?}\`; 422 names each invalid field.
- Test without a domain: mail to \`delivered@\`, \`bounced@\` or \`complained@\` the simulator domain never leaves the service.
- All schemas and examples are in [openapi.json](/openapi.json) (OpenAPI 3.1). People read [/docs](/docs).
`

/** Writes `/llms.txt`: what a language model needs to know to use the API, in the form of llmstxt.org. */
function llmsTextOf(routes: readonly Route[]): string {
  const tags = tagObjects(new Set(routes.map(({ path }) => tagOf(path))))
  const groups = tags.map(({ name, description }) => {
    const lines = routes
      .filter(({ path }) => tagOf(path) === name)
      .map(route => `- \`${route.method} ${route.path}\` (${operationIdOf(route, routes)}): ${route.summary}`)
    return `## ${name}\n\n${description === undefined ? '' : `${description}\n\n`}${lines.join('\n')}\n`
  })
  return [ABOUT, ...groups].join('\n')
}
