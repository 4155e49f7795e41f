/** Serves broadcasts: create, update, test, send, pause, resume and cancel. */
import * as z from 'zod'
import { type Id, parseWireId, wireId } from '../../../lib/ids.ts'
import { isRefusal, type Refusal } from '../../../pipeline/accept/refusal.ts'
import { storedAttachments } from '../../../pipeline/accept/stored-attachments.ts'
import type { BroadcastDetail, Broadcasts } from '../../../pipeline/broadcasts/broadcasts.ts'
import type { Author } from '../../../pipeline/broadcasts/draft.ts'
import { NAME_LENGTH_MAX } from '../../../pipeline/broadcasts/names.ts'
import { textPartOf } from '../../../protocols/mime/html/text-part.ts'
import { typedClientOf } from '../../../resources/compat/typed-clients.ts'
import { BROADCAST_STATUSES } from '../../../store/model/schema.ts'
import { apiErrorOf, notFound, orNotFound } from '../api-error.ts'
import { senderOf } from '../emails/idempotency-header.ts'
import { attachmentView } from '../emails/schema.ts'
import { doubtWarnings } from '../emails/send-warnings.ts'
import { type ApiReply, type ApiRequest, created, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { warningsSchema, withWarnings } from '../route/warnings.ts'
import { invalidParameter } from '../schema/broken-rule.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { readChoice } from '../schema/read.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import { type FindTemplate, templateOf, withTemplate } from './from-template.ts'
import {
  broadcastRow,
  broadcastRowSchema,
  broadcastSchema,
  broadcastView,
  lintSchema,
  lintView,
  previewSchema,
  testSchema,
  unsubscribeWarnings,
} from './replies.ts'
import {
  broadcastChangeSchema,
  newBroadcastSchema,
  readBroadcastChange,
  readNewBroadcast,
  readSendOrder,
  readTestOrder,
  sendBroadcastSchema,
  testBroadcastSchema,
} from './schema.ts'

/** Maximum size of html, text and attachments, with a margin for their JSON encoding. */
const BROADCAST_BODY_LIMIT_BYTES = 20 * 1024 * 1024

/** Fields of a single email that a broadcast does not have. */
const NOT_APPLIED = Object.fromEntries(
  ['cc', 'bcc', 'headers', 'tags'].map(field => [field, `A broadcast has no \`${field}\`.`]),
)
/** Fields that an empty string removes. */
const REMOVABLE = ['segment_id', 'topic_id', 'template_id', 'html', 'preview_text']

const listQuery = {
  q: z.string().max(NAME_LENGTH_MAX).optional().meta({ description: 'Substring of the name.' }),
  status: z.enum(BROADCAST_STATUSES).optional(),
  ...cursorPageQuery('brd'),
}

interface BroadcastRoutesOptions {
  broadcasts: Broadcasts
  findTemplate: FindTemplate
}

export function broadcastRoutes(options: BroadcastRoutesOptions): Route[] {
  return [
    ...draftRoutes(options),
    ...changeRoutes(options),
    ...orderRoutes(options),
    ...copyRoutes(options),
    ...lookRoutes(options),
  ]
}

function draftRoutes({ broadcasts, findTemplate }: BroadcastRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/broadcasts',
      access: 'session',
      bodyLimitBytes: BROADCAST_BODY_LIMIT_BYTES,
      summary: 'Create a broadcast; with `send`, send or schedule it',
      body: newBroadcastSchema,
      notApplied: NOT_APPLIED,
      replies: { 201: broadcastSchema },
      async handle(request) {
        const { accountId } = request.credential
        const { fields, send, attachments, doubtfulContents } = await withTemplate(
          findTemplate,
          accountId,
          readNewBroadcast(await request.body()),
        )
        const authored = { ...fields, ...authorOf(request), attachments }
        const made = found(await broadcasts.create(accountId, authored, send))
        const warnings = [...(send ? unsubscribeWarnings(made) : []), ...doubtWarnings(doubtfulContents)]
        return created(withWarnings(viewFor(request, made), warnings))
      },
    },
    {
      method: 'GET',
      path: '/broadcasts',
      access: 'session',
      summary: 'List broadcasts',
      query: listQuery,
      replies: { 200: listSchema(broadcastRowSchema) },
      async handle(request) {
        const { query, credential } = request
        const page = readCursorPage(query, 'brd', 'a broadcast')
        const search = readSearch(query)
        const status = readChoice(query, 'status', BROADCAST_STATUSES)
        const found = await broadcasts.list(credential.accountId, { ...page, search, status })
        return pageReply(found, row => broadcastRow(row, needsSegment(request)))
      },
    },
    {
      method: 'GET',
      path: '/broadcasts/:id',
      access: 'session',
      summary: 'Retrieve a broadcast, its progress and its results',
      replies: { 200: broadcastSchema },
      async handle(request) {
        return shown(request, await broadcasts.find(request.credential.accountId, pathId(request, 'brd')))
      },
    },
  ]
}

function changeRoutes({ broadcasts, findTemplate }: BroadcastRoutesOptions): Route[] {
  return [
    {
      method: 'PATCH',
      path: '/broadcasts/:id',
      access: 'session',
      bodyLimitBytes: BROADCAST_BODY_LIMIT_BYTES,
      summary: 'Update a draft or scheduled broadcast, or the rate of one that is being sent',
      body: broadcastChangeSchema,
      notApplied: NOT_APPLIED,
      emptyRemoves: REMOVABLE,
      replies: { 200: broadcastSchema },
      async handle(request) {
        const { accountId } = request.credential
        const id = pathId(request, 'brd')
        const { changes, template: ref, files, ...rest } = readBroadcastChange(await request.body())
        const template = ref ? await templateOf(findTemplate, accountId, ref) : undefined
        const copied = template && {
          templateId: template.id,
          html: template.html,
          text: template.text,
          ...(template.subject !== null && { subject: template.subject }),
        }
        const removed = ref === null ? { templateId: null } : {}
        const change = { ...rest, ...authorOf(request), changes: { ...copied, ...removed, ...changes } }
        const changed = await broadcasts.change(accountId, id, change, files?.attachments)
        return ok(withWarnings(viewFor(request, changed), doubtWarnings(files?.doubtfulContents ?? [])))
      },
    },
    {
      method: 'DELETE',
      path: '/broadcasts/:id',
      access: 'session',
      summary: 'Delete a draft, a scheduled broadcast, or a canceled one without emails',
      replies: { 200: deletedSchema('broadcast', 'brd') },
      async handle(request) {
        const id = pathId(request, 'brd')
        found(await broadcasts.delete(request.credential.accountId, id))
        return ok({ object: 'broadcast', id: wireId('brd', id), deleted: true })
      },
    },
  ]
}

function orderRoutes({ broadcasts }: BroadcastRoutesOptions): Route[] {
  const order = (name: 'unschedule' | 'pause' | 'resume' | 'cancel', summary: string): Route => ({
    method: 'POST',
    path: `/broadcasts/:id/${name}`,
    access: 'session',
    summary,
    replies: { 200: broadcastSchema },
    async handle(request) {
      return shown(request, await broadcasts[name](request.credential.accountId, pathId(request, 'brd')))
    },
  })
  return [
    {
      method: 'POST',
      path: '/broadcasts/:id/send',
      access: 'session',
      summary: 'Send or schedule a broadcast',
      body: sendBroadcastSchema,
      replies: { 200: broadcastSchema.extend({ warnings: warningsSchema }) },
      async handle(request) {
        const id = pathId(request, 'brd')
        const { version, ...order } = readSendOrder(await request.body())
        const { accountId } = request.credential
        const sent = found(await broadcasts.send(accountId, id, order, version))
        return ok(withWarnings(viewFor(request, sent), unsubscribeWarnings(sent)))
      },
    },
    order('unschedule', 'Turn a scheduled broadcast back into a draft; refused once sending has begun'),
    order('pause', 'Stop sending for a while: nothing that has not been handed over is begun'),
    order(
      'resume',
      'Go on sending a broadcast that is paused, or that has failed for want of a verified domain or of links that work',
    ),
    order(
      'cancel',
      'Turn a scheduled broadcast back into a draft, or end one that is being sent: nothing that has not been handed over is sent',
    ),
  ]
}

function copyRoutes({ broadcasts }: BroadcastRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/broadcasts/:id/duplicate',
      access: 'session',
      summary: 'Duplicate a broadcast as a draft',
      replies: { 201: broadcastSchema },
      async handle(request) {
        const { accountId } = request.credential
        const copy = await broadcasts.duplicate(accountId, pathId(request, 'brd'), authorOf(request))
        return { ...shown(request, copy), status: 201 }
      },
    },
  ]
}

function lookRoutes({ broadcasts }: BroadcastRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/broadcasts/:id/test',
      access: 'session',
      summary: 'Send a test email of a broadcast',
      body: testBroadcastSchema,
      replies: { 200: testSchema },
      async handle(request) {
        const id = pathId(request, 'brd')
        const { to, contactId } = readTestOrder(await request.body())
        const { ids } = found(await broadcasts.test(senderOf(request), id, to, contactId))
        const emails = ids.map((email, i) => ({ id: wireId('eml', email), to: to[i]!.address }))
        return ok({ object: 'broadcast_test', id: wireId('brd', id), emails })
      },
    },
    {
      method: 'POST',
      path: '/broadcasts/:id/lint',
      access: 'session',
      whileReadOnly: true,
      scopes: ['broadcasts:read'],
      summary: 'Check the content of a broadcast',
      replies: { 200: lintSchema },
      async handle(request) {
        const id = pathId(request, 'brd')
        return ok(lintView(id, found(await broadcasts.lint(request.credential.accountId, id))))
      },
    },
    {
      method: 'GET',
      path: '/broadcasts/:id/preview',
      access: 'session',
      summary: 'Render a broadcast for a contact',
      query: {
        contact_id: z
          .string()
          .optional()
          .meta({ description: 'Contact to render for; without it, an unknown contact.' }),
      },
      replies: { 200: previewSchema },
      async handle(request) {
        const id = pathId(request, 'brd')
        const { attachments, ...sample } = found(
          await broadcasts.preview(request.credential.accountId, id, contactOf(request)),
        )
        const text = sample.text ?? textPartOf(sample.html ?? '') ?? null
        const files = storedAttachments(attachments).map(attachmentView)
        return ok({ object: 'broadcast_preview', id: wireId('brd', id), ...sample, text, attachments: files })
      },
    },
  ]
}

/** @throws ApiError */
function shown(request: ApiRequest, answer: BroadcastDetail | Refusal | undefined): ApiReply {
  return ok(viewFor(request, answer))
}

/** @throws ApiError */
function viewFor(request: ApiRequest, answer: BroadcastDetail | Refusal | undefined) {
  return broadcastView(found(answer), needsSegment(request))
}

/** Returns who makes the request, as other users of the account are told. */
function authorOf({ credential }: ApiRequest): Author {
  if (credential.kind === 'session') return { by: credential.session.email }
  return { by: credential.kind === 'token' ? credential.name : null }
}

function needsSegment({ headers }: ApiRequest): boolean {
  return typedClientOf(headers)?.needsSegment ?? false
}

/** @throws ApiError */
function found<T>(answer: T | Refusal | undefined): T {
  if (answer === undefined) throw notFound('Broadcast')
  if (isRefusal(answer)) throw apiErrorOf(answer)
  return answer
}

function contactOf({ query }: ApiRequest): Id | null {
  const text = query.get('contact_id')
  if (text === null) return null
  return orNotFound(parseWireId('con', text), 'Contact')
}

/** @throws ApiError for a text that no name can contain */
function readSearch(query: URLSearchParams): string {
  const text = query.get('q') ?? ''
  if (text.length <= NAME_LENGTH_MAX && !text.includes('\0')) return text
  throw invalidParameter('q', `at most ${NAME_LENGTH_MAX} characters long, without NUL`, text)
}
