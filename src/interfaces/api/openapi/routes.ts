/** Serves the OpenAPI document. */
import * as z from 'zod'
import type { SessionCookie } from '../auth/cookie.ts'
import type { Route } from '../route.ts'
import { openapiOf } from './document.ts'

interface OpenapiRoutesOptions {
  /** All other routes. */
  routes: readonly Route[]
  cookie: SessionCookie
}

const openapiSchema = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.looseObject({})),
  components: z.looseObject({}),
})

export function openapiRoutes({ routes, cookie }: OpenapiRoutesOptions): Route[] {
  let text: Buffer | undefined
  const own: Route = {
    method: 'GET',
    path: '/openapi.json',
    access: 'public',
    summary: 'OpenAPI document',
    replies: { 200: openapiSchema },
    async handle() {
      const { default: examples } = await import('./examples.json', { with: { type: 'json' } })
      text ??= Buffer.from(
        JSON.stringify(openapiOf({ routes: [...routes, own], cookieName: cookie.name, examples })),
      )
      return { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, content: text }
    },
  }
  return [own]
}
