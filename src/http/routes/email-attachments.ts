/** Attachments of sent emails: listed, looked at, and their bytes under signed links. */
import contentDisposition from 'content-disposition'
import { z } from 'zod'
import type { StoredAttachment } from '../../accept/new-email.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Id, parseWireId, sameId } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { parseMediaType } from '../../mime/media-type.ts'
import type { BlobFiles } from '../../store/blobs.ts'
import { decodeContent } from '../../store/contents.ts'
import type { Find } from '../../store/read.ts'
import type { Db } from '../../store/schema.ts'
import { isVisible } from '../../store/visible.ts'
import { createDownloadToken, readDownloadToken } from '../download-token.ts'
import { createFindOwnEmail, type OwnEmailParts } from '../own-email.ts'
import { invalidField, notFound, Refused } from '../refused.ts'
import { type ApiRequest, ok, type RawReply, type Route } from '../route.ts'
import { linkedAttachmentSchema, linkedAttachmentViewer } from '../wire/attachment-view.ts'
import { readNumber } from '../wire/read.ts'
import { idSchema, listSchema } from '../wire/reply-schemas.ts'

interface EmailAttachmentRoutesOptions {
  horizonOf: OwnEmailParts['horizonOf']
  store: { db: Db; find: Find; blobs: BlobFiles }
  secrets: SecretKeys
  clock: Clock
  /** The address under which clients reach the service. */
  baseUrl(): string
}

const LINK_MS = 3_600_000
/** An email may have as many. */
const MOST_ROWS = 100

export function emailAttachmentRoutes(options: EmailAttachmentRoutesOptions): Route[] {
  const { horizonOf, store, secrets, clock, baseUrl } = options
  const findOwnEmail = createFindOwnEmail({ find: store.find, horizonOf })

  /** The attachments of the email a request names, and how each is shown. */
  const attachmentsOf = async (request: ApiRequest) => {
    const email = await findOwnEmail(request, ['attachments', 'contentId'])
    const [content] = await store.find('contents', [{ id: email.contentId }], ['encoding', 'body'])
    const { html } = content ? decodeContent(content) : { html: null }
    const expiresAt = clock.now() + LINK_MS
    const linkTo = ({ id }: StoredAttachment) => {
      const ref = { accountId: email.accountId, emailId: email.id, attachmentId: parseWireId('att', id)! }
      const token = createDownloadToken(secrets, ref, expiresAt)
      return { url: `${baseUrl()}/downloads?token=${token}`, expiresAt }
    }
    return { attachments: readStored(email.attachments), view: linkedAttachmentViewer(html, linkTo) }
  }

  return [
    {
      method: 'GET',
      path: '/emails/:id/attachments',
      access: 'key',
      summary: 'The attachments of an email, each with a link to its bytes that is good for an hour',
      query: {
        limit: z.int().min(1).max(MOST_ROWS).default(MOST_ROWS),
        after: idSchema('att').optional(),
        before: idSchema('att').optional(),
      },
      replies: { 200: listSchema(linkedAttachmentSchema) },
      async handle(request) {
        const page = readPage(request.query)
        const { attachments, view } = await attachmentsOf(request)
        const { rows, hasMore } = cutPage(attachments, page)
        return ok({ object: 'list', total: attachments.length, has_more: hasMore, data: rows.map(view) })
      },
    },
    {
      method: 'GET',
      path: '/emails/:id/attachments/:attachment_id',
      access: 'key',
      summary: 'An attachment of an email, with a link to its bytes that is good for an hour',
      replies: { 200: linkedAttachmentSchema.extend({ object: z.literal('attachment') }) },
      async handle(request) {
        const id = parseWireId('att', request.params.attachment_id!)
        const { attachments, view } = await attachmentsOf(request)
        const attachment = id && findById(attachments, id)
        if (!attachment) throw notFound('Attachment')
        return ok({ object: 'attachment', ...view(attachment) })
      },
    },
    {
      method: 'GET',
      path: '/downloads',
      access: 'public',
      summary: 'The bytes of an attachment, for whoever has a link to it',
      query: { token: z.string() },
      replies: { 200: '*/*' },
      async handle({ query }) {
        const token = query.get('token') ?? ''
        if (token === '') throw invalidField('token', 'Missing `token` parameter.', 'missing_required_field')
        const ref = readDownloadToken(secrets, token)
        if (!ref) throw notFound('Download')
        const { accountId, emailId: id, attachmentId, expiresAt } = ref
        if (expiresAt <= clock.now())
          throw new Refused(403, 'invalid_access', 'The link has expired; ask for the attachment again.')
        const [email] = await store.find('emails', [{ accountId, id }], ['attachments', 'endedAt'])
        const isThere = email && isVisible(email, await horizonOf(accountId))
        const attachment = isThere && findById(readStored(email.attachments), attachmentId)
        if (!attachment) throw notFound('Download')
        return download(store, attachment)
      },
    },
  ]
}

/** RFC 6266 and RFC 8187 for the name; nothing of the file may run where our own pages come from. */
async function download({ db, blobs }: { db: Db; blobs: BlobFiles }, file: StoredAttachment) {
  const blob = await blobs.open(db, new Uint8Array(Buffer.from(file.hash, 'hex')))
  return {
    status: 200,
    headers: {
      'content-type': parseMediaType(file.contentType).essence,
      'content-length': String(blob.sizeBytes),
      'content-disposition': contentDisposition(file.filename.toWellFormed() || 'attachment'),
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    },
    content: blob.content,
  } satisfies RawReply
}

interface Page {
  limit: number
  after: Id | undefined
  before: Id | undefined
}

/** @throws Refused 422 */
function readPage(query: URLSearchParams): Page {
  const edge = (name: string) => {
    const text = query.get(name) ?? ''
    const id = text === '' ? undefined : parseWireId('att', text)
    if (text !== '' && !id) throw invalidField(name, `The \`${name}\` parameter must be an attachment's id.`)
    return id
  }
  const after = edge('after')
  const before = edge('before')
  if (after && before) throw invalidField('before', 'The `before` parameter cannot be used with `after`.')
  return {
    limit: readNumber(query, 'limit', { fallback: MOST_ROWS, least: 1, most: MOST_ROWS }),
    after,
    before,
  }
}

/** In the order in which they were sent. @throws Refused 404 when the page is to begin where nothing is */
function cutPage(all: readonly StoredAttachment[], { limit, after, before }: Page) {
  const edge = after ?? before
  const edgeAt = edge ? all.findIndex(({ id }) => isOfId(id, edge)) : -1
  if (edge && edgeAt < 0) throw notFound('Attachment')
  if (before) return { rows: all.slice(Math.max(0, edgeAt - limit), edgeAt), hasMore: edgeAt > limit }
  const from = edgeAt + 1
  return { rows: all.slice(from, from + limit), hasMore: all.length > from + limit }
}

function findById(attachments: readonly StoredAttachment[], wanted: Id): StoredAttachment | undefined {
  return attachments.find(({ id }) => isOfId(id, wanted))
}

function isOfId(text: string, id: Id): boolean {
  return sameId(parseWireId('att', text)!, id)
}

function readStored(json: string | null): StoredAttachment[] {
  return json === null ? [] : (JSON.parse(json) as StoredAttachment[])
}
