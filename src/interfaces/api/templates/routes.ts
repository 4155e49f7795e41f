/** Serves templates, their drafts and their versions. */
import * as z from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import { type Id, type IdSource, wireId } from '../../../lib/ids.ts'
import { parseTemplateRef } from '../../../resources/templates/alias.ts'
import { ALIAS_TAKEN, type templateCommands } from '../../../resources/templates/commands.ts'
import { TEMPLATE_NAME_LENGTH_MAX } from '../../../resources/templates/limits.ts'
import {
  findTemplate,
  findVersion,
  listTemplates,
  listVersions,
  resolveTemplate,
  type StoredTemplate,
} from '../../../resources/templates/template-rows.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import { invalidField, notFound, orNotFound } from '../api-error.ts'
import { type ApiRequest, created, ok, pageReply, type Route } from '../route/route.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import {
  readNewTemplate,
  readReplacement,
  readTemplateChange,
  requireLimits,
  templateBodySchema,
  templateChangeSchema,
  templateReplacementSchema,
  templateRow,
  templateRowSchema,
  templateSchema,
  templateView,
  versionRow,
  versionRowSchema,
  versionSchema,
  versionView,
} from './schema.ts'

/** Maximum size of html and text, with a margin for their JSON encoding. */
const TEMPLATE_BODY_LIMIT_BYTES = 16 * 1024 * 1024

const templateQuery = {
  q: z.string().max(TEMPLATE_NAME_LENGTH_MAX).optional().meta({ description: 'Substring of the name.' }),
  ...cursorPageQuery('tpl'),
}

interface TemplateRoutesOptions {
  db: Db
  run: Run<typeof templateCommands>
  clock: Clock
  newId: IdSource
}

export function templateRoutes(options: TemplateRoutesOptions): Route[] {
  return [
    ...collectionRoutes(options),
    ...writeRoutes(options),
    ...draftRoutes(options),
    ...versionRoutes(options),
  ]
}

function collectionRoutes({ db, run, clock, newId }: TemplateRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/templates',
      access: 'session',
      bodyLimitBytes: TEMPLATE_BODY_LIMIT_BYTES,
      summary: 'Create a template',
      body: templateBodySchema,
      replies: { 201: templateSchema },
      async handle(request) {
        const { accountId } = request.credential
        const { fields, alias = null } = readNewTemplate(await request.body())
        const at = clock.now()
        const template = await run('createTemplate', { accountId, id: newId(at), fields, alias, at })
        return created(templateView(found(template)))
      },
    },
    {
      method: 'GET',
      path: '/templates',
      access: 'session',
      summary: 'List templates',
      query: templateQuery,
      replies: { 200: listSchema(templateRowSchema) },
      async handle({ query, credential: { accountId } }) {
        const page = readCursorPage(query, 'tpl', 'a template')
        const wanted = { ...page, search: readSearch(query) }
        return pageReply(await listTemplates(db, accountId, wanted), templateRow)
      },
    },
    {
      method: 'GET',
      path: '/templates/:id',
      access: 'session',
      summary: 'Retrieve a template by its id or alias',
      replies: { 200: templateSchema },
      async handle(request) {
        const { accountId, id } = await keyOf(db, request)
        return ok(templateView(found(await findTemplate(db, accountId, id))))
      },
    },
  ]
}

/** Fields that an empty string or list removes. */
const REMOVABLE = ['alias', 'from', 'reply_to', 'subject', 'variables']

function writeRoutes({ db, run, clock }: TemplateRoutesOptions): Route[] {
  return [
    {
      method: 'PUT',
      path: '/templates/:id',
      access: 'session',
      bodyLimitBytes: TEMPLATE_BODY_LIMIT_BYTES,
      summary: 'Replace name, subject, html and text of a template; emails use them at once',
      body: templateReplacementSchema,
      emptyRemoves: REMOVABLE,
      replies: { 200: templateSchema },
      async handle(request) {
        const key = await keyOf(db, request)
        const change = readReplacement(await request.body())
        const template = await run('changeTemplate', { ...key, ...change, at: clock.now() })
        return ok(templateView(found(template)))
      },
    },
    {
      method: 'PATCH',
      path: '/templates/:id',
      access: 'session',
      bodyLimitBytes: TEMPLATE_BODY_LIMIT_BYTES,
      summary: 'Update fields of a template; once it has been published, the update is a draft',
      body: templateChangeSchema,
      emptyRemoves: REMOVABLE,
      replies: { 200: templateSchema },
      async handle(request) {
        const { accountId, id } = await keyOf(db, request)
        const change = readTemplateChange(await request.body())
        requireLimits({ ...found(await findTemplate(db, accountId, id)), ...change.fields })
        const template = await run('changeTemplate', { accountId, id, ...change, at: clock.now() })
        return ok(templateView(found(template)))
      },
    },
    {
      method: 'DELETE',
      path: '/templates/:id',
      access: 'session',
      summary: 'Delete a template and its versions',
      replies: { 200: deletedSchema('template', 'tpl') },
      async handle(request) {
        const key = await keyOf(db, request)
        orNotFound(await run('deleteTemplate', key), 'Template')
        return ok({ object: 'template', id: wireId('tpl', key.id), deleted: true })
      },
    },
  ]
}

function draftRoutes({ db, run, clock, newId }: TemplateRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/templates/:id/publish',
      access: 'session',
      summary: 'Publish a template: emails are made of its present content',
      replies: { 200: templateSchema },
      async handle(request) {
        const key = await keyOf(db, request)
        return ok(templateView(found(await run('publishTemplate', { ...key, at: clock.now() }))))
      },
    },
    {
      method: 'POST',
      path: '/templates/:id/duplicate',
      access: 'session',
      summary: 'Duplicate a template as a draft without an alias',
      replies: { 201: templateSchema },
      async handle(request) {
        const key = await keyOf(db, request)
        const at = clock.now()
        const copy = await run('duplicateTemplate', { ...key, copyId: newId(at), at })
        return created(templateView(found(copy)))
      },
    },
  ]
}

function versionRoutes({ db, run, clock }: TemplateRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/templates/:id/versions',
      access: 'session',
      summary: 'List the versions of a template',
      replies: { 200: z.array(versionRowSchema) },
      async handle(request) {
        const { accountId, id } = await keyOf(db, request)
        const versions = await listVersions(db, accountId, id)
        return ok(orNotFound(versions, 'Template').map(versionRow))
      },
    },
    {
      method: 'GET',
      path: '/templates/:id/versions/:version',
      access: 'session',
      summary: 'Retrieve a version of a template',
      replies: { 200: versionSchema },
      async handle(request) {
        const { accountId, id, version: number } = await versionKeyOf(db, request)
        const version = await findVersion(db, accountId, id, number)
        return ok(versionView(orNotFound(version, 'Template version')))
      },
    },
    {
      method: 'POST',
      path: '/templates/:id/versions/:version/restore',
      access: 'session',
      summary: 'Restore a version of a template',
      replies: { 200: templateSchema },
      async handle(request) {
        const key = await versionKeyOf(db, request)
        const template = await run('restoreTemplate', { ...key, at: clock.now() })
        return ok(templateView(orNotFound(template, 'Template version')))
      },
    },
  ]
}

/** @throws ApiError */
function found(answer: StoredTemplate | typeof ALIAS_TAKEN | undefined): StoredTemplate {
  if (answer === undefined) throw notFound('Template')
  if (answer === ALIAS_TAKEN) throw invalidField('alias', 'Another template of the account has this `alias`.')
  return answer
}

/**
 * The `:id` of a path is an id or an alias.
 * @throws ApiError 404
 */
async function keyOf(
  db: Db,
  { params, credential: { accountId } }: ApiRequest,
): Promise<{ accountId: Id; id: Id }> {
  const ref = parseTemplateRef(params.id!)
  const id = orNotFound(ref && (await resolveTemplate(db, accountId, ref)), 'Template')
  return { accountId, id }
}

async function versionKeyOf(db: Db, request: ApiRequest) {
  const version = request.params.version!
  if (!/^[1-9]\d{0,8}$/.test(version)) throw notFound('Template version')
  return { ...(await keyOf(db, request)), version: Number(version) }
}

/** @throws ApiError for a text that no name can contain */
function readSearch(query: URLSearchParams): string {
  const text = query.get('q') ?? ''
  if (text.length <= TEMPLATE_NAME_LENGTH_MAX && !text.includes('\0')) return text
  throw invalidField(
    'q',
    `The \`q\` parameter may have ${TEMPLATE_NAME_LENGTH_MAX} characters, none of them NUL.`,
  )
}
