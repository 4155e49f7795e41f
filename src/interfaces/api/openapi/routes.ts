/** Serves the OpenAPI document and the text about the API for language models. */
import * as z from 'zod'
import type { SessionCookie } from '../auth/cookie.ts'
import type { RawHttpReply, Route } from '../route.ts'
import { openapiOf } from './document.ts'
import { llmsTextOf } from './llms-text.ts'

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
  let document: Buffer | undefined
  let text: Buffer | undefined
  const own: Route[] = [
    {
      method: 'GET',
      path: '/openapi.json',
      access: 'public',
      summary: 'OpenAPI document',
      replies: { 200: openapiSchema },
      async handle() {
        const { default: examples } = await import('./examples.json', { with: { type: 'json' } })
        document ??= Buffer.from(
          JSON.stringify(
            openapiOf({
              routes: [...routes, ...own],
              cookieName: cookie.name,
              examples,
              values: { region: regions, plan: plans },
            }),
          ),
        )
        return rawReply('application/json; charset=utf-8', document)
      },
    },
    {
      method: 'GET',
      path: '/llms.txt',
      access: 'public',
      summary: 'The API for language models, as plain text',
      replies: { 200: 'text/plain' },
      async handle() {
        text ??= Buffer.from(llmsTextOf([...routes, ...own]))
        return rawReply('text/plain; charset=utf-8', text)
      },
    },
  ]
  return own
}

function rawReply(type: string, content: Uint8Array): RawHttpReply {
  return { status: 200, headers: { 'content-type': type }, content }
}
