/** Writes `/llms.txt`: what a language model needs to know to use the API, in the form of llmstxt.org. */
import type { Route } from '../route/route.ts'
import { operationIdOf } from './operation-ids.ts'
import { tagObjects, tagOf } from './tags.ts'

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

export function llmsTextOf(routes: readonly Route[]): string {
  const tags = tagObjects(new Set(routes.map(({ path }) => tagOf(path))))
  const groups = tags.map(({ name, description }) => {
    const lines = routes
      .filter(({ path }) => tagOf(path) === name)
      .map(route => `- \`${route.method} ${route.path}\` (${operationIdOf(route, routes)}): ${route.summary}`)
    return `## ${name}\n\n${description === undefined ? '' : `${description}\n\n`}${lines.join('\n')}\n`
  })
  return [ABOUT, ...groups].join('\n')
}
