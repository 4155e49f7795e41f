/**
 * Serves the dashboard: its files, and messages in its preview frames. The dashboard itself uses the HTTP
 * API.
 */
import type { Context, Middleware } from 'koa'
import { idKey } from '../../../lib/ids.ts'
import { JoinedBytes } from '../../../lib/joined-bytes.ts'
import { ApiError } from '../api-error.ts'
import type { FindCredential } from '../auth/credentials.ts'
import { declaredLength } from '../body/body.ts'
import type { LargeBodies } from '../body/large-bodies.ts'
import { streamBody } from '../body/stream.ts'

interface PageReply {
  status: number
  headers: Readonly<Record<string, string>>
  content: Uint8Array
}

/** Pages and files of the dashboard. */
export interface DashboardPages {
  /**
   * Returns undefined for a file that does not exist.
   * @param encodings value of the Accept-Encoding header
   */
  find(path: string, encodings: string): PageReply | undefined
  /** Returns undefined for a body that is not a preview form. */
  preview(body: Uint8Array, withPictures: boolean): PageReply | undefined
  /**
   * Reserves memory for a form.
   *
   * @throws ApiError 503
   */
  enter: LargeBodies['enter']
}

const ROOT = '/dashboard'
/** Path of the API reference. */
const REFERENCE = '/docs'
const PREVIEW = '/dashboard/preview'
/** Maximum size of a previewed message. */
const PREVIEW_LIMIT_BYTES = 12 * 1024 * 1024

export function servePages(pages: DashboardPages, findCredential: FindCredential): Middleware {
  return async (ctx, next) => {
    if (isVisit(ctx)) return ctx.redirect(`${ROOT}/`)
    if (ctx.path !== ROOT && ctx.path !== REFERENCE && !ctx.path.startsWith(`${ROOT}/`)) return next()
    if (ctx.path === PREVIEW && ctx.method === 'POST') {
      const credential = await findCredential(ctx.req, { access: 'session', scopes: ['session'] })
      return send(ctx, await previewed(ctx, pages, idKey(credential!.accountId)))
    }
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw wrongMethod(ctx)
    const page = pages.find(ctx.path, ctx.get('accept-encoding'))
    if (!page) throw new ApiError(404, 'not_found', `Unknown path: ${ctx.path}`)
    return send(ctx, page)
  }
}

/** Tells whether a browser opened the root of the service. */
function isVisit({ path, method, headers }: Context): boolean {
  return path === '/' && method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '')
}

/** @throws ApiError 413, 415 or 503 */
async function previewed(ctx: Context, pages: DashboardPages, owner: string): Promise<PageReply> {
  const reservation = await pages.enter(
    owner,
    Math.min(declaredLength(ctx.req) ?? PREVIEW_LIMIT_BYTES, PREVIEW_LIMIT_BYTES),
  )
  try {
    const body = new JoinedBytes()
    for await (const piece of streamBody(ctx.req, PREVIEW_LIMIT_BYTES)) body.add(piece)
    const page = pages.preview(body.take(), ctx.query.pictures === '1')
    if (!page) throw new ApiError(415, 'validation_error', 'The request body of a preview must be a form.')
    return page
  } finally {
    reservation.release()
  }
}

function wrongMethod({ path, method }: Context): ApiError {
  const allow = path === PREVIEW ? 'GET, HEAD, POST' : 'GET, HEAD'
  return new ApiError(405, 'method_not_allowed', `${path} allows ${allow}; got ${method}.`, {
    headers: { allow },
  })
}

function send(ctx: Context, { status, headers, content }: PageReply): void {
  ctx.status = status
  ctx.set(headers)
  ctx.body = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
}
