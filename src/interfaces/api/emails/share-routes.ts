/** Serves share links of sent and received emails (create, list, revoke) and the page of a shared email. */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { toBase32 } from '../../../lib/base32.ts'
import type { Clock } from '../../../lib/clock.ts'
import { type IdSource, wireId } from '../../../lib/ids.ts'
import { hashToken } from '../../../resources/accounts/tokens.ts'
import {
  findShare,
  listShares,
  SHARES_MAX,
  type shareCommands,
} from '../../../resources/emails/share-rows.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { ApiError, invalidField, notFound, orNotFound } from '../api-error.ts'
import { pageLanguage } from '../recipients/languages.ts'
import { ok, pathId, type Route } from '../route/route.ts'
import { parseDuration } from '../schema/duration.ts'
import { bodyReader } from '../schema/read.ts'
import { deletedSchema, idSchema, listSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'
import type { OwnEmailOptions } from './own-email.ts'
import { type SharedEmail, sharedHtmlReply, sharePageReply, VISITOR } from './share-page.ts'
import { createSharedMail, type SharedMail } from './shared-mail.ts'

interface ShareRoutesOptions {
  horizonOf: OwnEmailOptions['horizonOf']
  store: { db: Db; find: Find; blobs: BlobFiles; run: Run<typeof shareCommands> }
  clock: Clock
  newId: IdSource
  /** Base URL of share links. */
  baseUrl: string
}

const DURATION_MS_MAX = 48 * 3_600_000
const TOKEN_BYTES = 16

const shareSchema = z.object({
  expires_in: z
    .unknown()
    .optional()
    .meta({
      anyOf: [{ type: 'string' }, { type: 'integer' }],
      description:
        'Number of seconds or a duration such as `2 hours` or `1h 30m`; at most 48 hours, which is the default.',
    }),
})
const readShare = bodyReader(shareSchema, { emptyMeansAbsent: ['expires_in'] })

const rowSchema = z.object({
  object: z.literal('share'),
  id: idSchema('shr'),
  created_at: timeSchema,
  expires_at: timeSchema,
})

export function shareRoutes(options: ShareRoutesOptions): Route[] {
  const mail = createSharedMail(options)
  return [...ownerRoutes(options, mail), ...visitorRoutes(options, mail)]
}

function ownerRoutes({ store, clock, newId, baseUrl }: ShareRoutesOptions, mail: SharedMail): Route[] {
  return [
    {
      method: 'POST',
      path: '/emails/:id/share',
      access: 'key',
      summary: 'Create a share link of a sent or received email, which needs no login and expires',
      body: shareSchema,
      replies: {
        200: z.object({
          object: z.literal('email'),
          id: z.union([idSchema('eml'), idSchema('inb')]),
          share_id: idSchema('shr'),
          url: z.url(),
          expires_at: timeSchema,
        }),
      },
      async handle(request) {
        const { accountId, emailId, wireId: id } = await mail.own(request)
        const lastsMs = readLength(readShare(await request.body()).expiresIn)
        const token = toBase32(randomBytes(TOKEN_BYTES))
        const createdAt = clock.now()
        const expiresAt = createdAt + lastsMs
        const shareId = newId(createdAt)
        const row = { id: shareId, accountId, emailId, tokenHash: hashToken(token), createdAt, expiresAt }
        const result = await store.run('shareEmail', row)
        if (result === 'gone') throw notFound('Email')
        if (result === 'too-many') throw tooManyShares()
        return ok({
          object: 'email',
          id,
          share_id: wireId('shr', shareId),
          url: `${baseUrl}/s/${token}`,
          expires_at: timestamp(expiresAt),
        })
      },
    },
    {
      method: 'GET',
      path: '/emails/:id/share',
      access: 'key',
      summary: 'List the active share links of an email',
      replies: { 200: listSchema(rowSchema) },
      async handle(request) {
        const rows = await listShares(store.db, await mail.own(request), clock.now())
        const data = rows.map(({ id, createdAt, expiresAt }) => ({
          object: 'share' as const,
          id: wireId('shr', id),
          created_at: timestamp(createdAt),
          expires_at: timestamp(expiresAt),
        }))
        return ok({ object: 'list', total: data.length, has_more: false, data })
      },
    },
    {
      method: 'DELETE',
      path: '/emails/:id/share/:share_id',
      access: 'key',
      summary: 'Revoke a share link of an email',
      replies: { 200: deletedSchema('share', 'shr') },
      async handle(request) {
        const { accountId, emailId } = await mail.own(request)
        const id = pathId(request, 'shr', 'share_id')
        orNotFound(await store.run('revokeShare', { accountId, emailId, id }), 'Share')
        return ok({ object: 'share', id: wireId('shr', id), deleted: true })
      },
    },
  ]
}

function tooManyShares(): ApiError {
  return new ApiError(
    422,
    'validation_error',
    `An email may have at most ${SHARES_MAX} share links. Revoke a link or wait until one expires.`,
  )
}

function visitorRoutes({ store, clock }: ShareRoutesOptions, mail: SharedMail): Route[] {
  /** @throws ApiError 404 for every kind of invalid link, so that strangers learn nothing about former links */
  const shared = async (token: string): Promise<SharedEmail> => {
    const share = await findShare(store.find, hashToken(token))
    const isValid = share && share.expiresAt > clock.now()
    return orNotFound(isValid && (await mail.shown(share)), 'Share')
  }
  return [
    {
      method: 'GET',
      path: '/s/:token',
      access: 'public',
      summary: 'Page of a shared email',
      replies: { 200: 'text/html' },
      handle: async ({ params: { token }, headers }) =>
        sharePageReply(await shared(token!), {
          framePath: `/s/${token}/html`,
          language: pageLanguage([], headers['accept-language']),
          rights: VISITOR,
        }),
    },
    {
      method: 'GET',
      path: '/s/:token/html',
      access: 'public',
      summary: 'HTML of a shared email, for the frame in its page',
      replies: { 200: 'text/html' },
      async handle({ params }) {
        const html = await (await shared(params.token!)).html()
        if (html === null) throw notFound('Share')
        return sharedHtmlReply(html, VISITOR)
      },
    },
  ]
}

/** @throws ApiError 422 */
function readLength(value: unknown): number {
  const lastsMs = value === undefined ? DURATION_MS_MAX : parseDuration(value)
  if (lastsMs !== undefined && lastsMs > 0 && lastsMs <= DURATION_MS_MAX) return lastsMs
  throw invalidField(
    'expires_in',
    '`expires_in` must be a number of seconds or a duration such as `2 hours` or `1h 30m`, and at most 48 hours.',
  )
}
