/** Serves share links of emails (create, list, revoke) and the page of a shared email. */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { toBase32 } from '../../../lib/base32.ts'
import type { Clock } from '../../../lib/clock.ts'
import { type IdSource, parseWireId, wireId } from '../../../lib/ids.ts'
import { hashToken } from '../../../resources/accounts/tokens.ts'
import { type Content, decodeContent } from '../../../resources/emails/content.ts'
import {
  findShare,
  listShares,
  SHARES_MAX,
  type shareCommands,
} from '../../../resources/emails/share-rows.ts'
import { isVisible } from '../../../resources/emails/visible.ts'
import { personalContent } from '../../../resources/templates/personal.ts'
import type { Run } from '../../../store/command.ts'
import type { Find } from '../../../store/read.ts'
import type { Db } from '../../../store/schema.ts'
import { ApiError, invalidField, notFound } from '../api-error.ts'
import { ok, type RawHttpReply, type Route } from '../route.ts'
import { parseDuration } from '../schema/duration.ts'
import { bodyReader } from '../schema/read.ts'
import { deletedSchema, idSchema, listSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'
import { createFindOwnEmail, type OwnEmailParts } from './own-email.ts'
import { SHARE_PAGE_HEADERS, SHARED_HTML_HEADERS, type SharedEmail, sharePage } from './share-page.ts'

interface ShareRoutesOptions {
  horizonOf: OwnEmailParts['horizonOf']
  store: { db: Db; find: Find; run: Run<typeof shareCommands> }
  clock: Clock
  newId: IdSource
  /** Base URL of share links. */
  baseUrl(): string
}

const HOUR_MS = 3_600_000
const DURATION_MS_MAX = 48 * HOUR_MS
const TOKEN_BYTES = 16

const shareSchema = z.object({
  expires_in: z
    .unknown()
    .optional()
    .meta({
      anyOf: [{ type: 'string' }, { type: 'integer' }],
      description:
        'Number of seconds or a duration such as `2 hours`; at most 48 hours, by default one hour.',
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
  return [...ownerRoutes(options), ...visitorRoutes(options)]
}

function ownerRoutes({ horizonOf, store, clock, newId, baseUrl }: ShareRoutesOptions): Route[] {
  const findOwnEmail = createFindOwnEmail({ find: store.find, horizonOf })
  return [
    {
      method: 'POST',
      path: '/emails/:id/share',
      access: 'key',
      summary: 'Create a share link of an email, which needs no login and expires',
      body: shareSchema,
      replies: {
        200: z.object({
          object: z.literal('email'),
          id: idSchema('eml'),
          share_id: idSchema('shr'),
          url: z.url(),
          expires_at: timeSchema,
        }),
      },
      async handle(request) {
        const { accountId, id: emailId } = await findOwnEmail(request, [])
        const lastsMs = readLength(readShare(await request.body()).expiresIn)
        const token = toBase32(randomBytes(TOKEN_BYTES))
        const createdAt = clock.now()
        const expiresAt = createdAt + lastsMs
        const id = newId(createdAt)
        const row = { id, accountId, emailId, tokenHash: hashToken(token), createdAt, expiresAt }
        const result = await store.run('shareEmail', row)
        if (result === 'gone') throw notFound('Email')
        if (result === 'too-many')
          throw new ApiError(
            422,
            'validation_error',
            `An email may have at most ${SHARES_MAX} share links. Revoke a link or wait until one expires.`,
          )
        return ok({
          object: 'email',
          id: wireId('eml', emailId),
          share_id: wireId('shr', id),
          url: `${baseUrl()}/s/${token}`,
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
        const rows = await listShares(store.db, await findOwnEmail(request, []), clock.now())
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
        const { accountId, id: emailId } = await findOwnEmail(request, [])
        const id = parseWireId('shr', request.params.share_id!)
        if (!id || !(await store.run('revokeShare', { accountId, emailId, id }))) throw notFound('Share')
        return ok({ object: 'share', id: wireId('shr', id), deleted: true })
      },
    },
  ]
}

function visitorRoutes({ horizonOf, store, clock }: ShareRoutesOptions): Route[] {
  /**
   * @throws ApiError 404 for every kind of invalid link, so that strangers learn nothing about former links
   */
  const shared = async (token: string): Promise<SharedEmail & { content: Content }> => {
    const share = await findShare(store.find, hashToken(token))
    if (!share || share.expiresAt <= clock.now()) throw notFound('Share')
    const { accountId, emailId: id } = share
    const columns = ['sender', 'toList', 'ccList', 'subject', 'createdAt', 'scheduledAt'] as const
    const personal = ['variables', 'broadcastId'] as const
    const [email] = await store.find(
      'emails',
      [{ accountId, id }],
      [...columns, ...personal, 'endedAt', 'contentId'],
    )
    if (!email || !isVisible(email, await horizonOf(accountId))) throw notFound('Share')
    const [content] = await store.find('contents', [{ id: email.contentId }], ['encoding', 'body'])
    if (!content) throw notFound('Share')
    // the viewer must not be able to unsubscribe the recipient
    return { ...email, content: personalContent({ ...email, content: decodeContent(content) }, () => '') }
  }
  return [
    {
      method: 'GET',
      path: '/s/:token',
      access: 'public',
      summary: 'Page of a shared email',
      replies: { 200: 'text/html' },
      async handle({ params }) {
        const { content, ...email } = await shared(params.token!)
        const framePath = content.html === null ? null : `/s/${params.token}/html`
        return htmlReply(SHARE_PAGE_HEADERS, sharePage(email, content.text, framePath))
      },
    },
    {
      method: 'GET',
      path: '/s/:token/html',
      access: 'public',
      summary: 'HTML of a shared email, for the frame in its page',
      replies: { 200: 'text/html' },
      async handle({ params }) {
        const { content } = await shared(params.token!)
        if (content.html === null) throw notFound('Share')
        return htmlReply(SHARED_HTML_HEADERS, content.html)
      },
    },
  ]
}

function htmlReply(headers: RawHttpReply['headers'], html: string): RawHttpReply {
  return { status: 200, headers, content: Buffer.from(html) }
}

/** @throws ApiError 422 */
function readLength(value: unknown): number {
  const lastsMs = value === undefined ? HOUR_MS : parseDuration(value)
  if (lastsMs !== undefined && lastsMs > 0 && lastsMs <= DURATION_MS_MAX) return lastsMs
  throw invalidField(
    'expires_in',
    '`expires_in` must be a number of seconds or a duration such as `2 hours`, and at most 48 hours.',
  )
}
