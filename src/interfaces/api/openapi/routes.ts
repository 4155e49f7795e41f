/** Serves the OpenAPI document and the text about the API for language models. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import * as z from 'zod'
import { acceptsGzip } from '../../../lib/accept-encoding.ts'
import type { SessionCookie } from '../auth/cookie.ts'
import type { ApiRequest, RawHttpReply, Route } from '../route/route.ts'
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
