/** Writes `/llms.txt`: what a language model needs to know to use the API, in the form of llmstxt.org. */
import type { Route } from '../route.ts'
import { operationIdOf } from './operation-ids.ts'
import { tagObjects, tagOf } from './tags.ts'

const ABOUT = `# Mailhorn

> Self-hosted e-mail platform. JSON over HTTP at the root of the base URL. The official Resend SDKs work with their base URL
> pointed here.

- Authenticate with \`Authorization: Bearer <API key>\`. API keys send and read email, received mail and suppressions;
  everything else needs a session, which \`POST /auth/login\` returns to scripts as \`token\`.
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
