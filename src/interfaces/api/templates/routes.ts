/** Serves templates, their drafts and their versions. */
import * as z from 'zod'
import { type Id, wireId } from '../../../lib/ids.ts'
import { parseTemplateRef } from '../../../resources/templates/alias.ts'
import { ALIAS_TAKEN } from '../../../resources/templates/commands.ts'
import { TEMPLATE_NAME_LENGTH_MAX } from '../../../resources/templates/limits.ts'
import type { StoredTemplate } from '../../../resources/templates/template-rows.ts'
import type { Templates } from '../../../resources/templates/templates.ts'
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

export function templateRoutes({ templates }: { templates: Templates }): Route[] {
  return [
    ...collectionRoutes(templates),
    ...writeRoutes(templates),
    ...draftRoutes(templates),
    ...versionRoutes(templates),
  ]
}

function collectionRoutes(templates: Templates): Route[] {
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
        const { fields, alias } = readNewTemplate(await request.body())
        return created(
          templateView(found(await templates.create(request.credential.accountId, fields, alias))),
        )
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
        return pageReply(await templates.list(accountId, wanted), templateRow)
      },
    },
    {
      method: 'GET',
      path: '/templates/:id',
      access: 'session',
      summary: 'Retrieve a template by its id or alias',
      replies: { 200: templateSchema },
      async handle(request) {
        const id = await idOf(templates, request)
        return ok(templateView(found(await templates.find(request.credential.accountId, id))))
      },
    },
  ]
}

/** Fields that an empty string or list removes. */
const REMOVABLE = ['alias', 'from', 'reply_to', 'subject', 'variables']

function writeRoutes(templates: Templates): Route[] {
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
        const id = await idOf(templates, request)
        const change = readReplacement(await request.body())
        return ok(templateView(found(await templates.change(request.credential.accountId, id, change))))
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
        const { accountId } = request.credential
        const id = await idOf(templates, request)
        const change = readTemplateChange(await request.body())
        requireLimits({ ...found(await templates.find(accountId, id)), ...change.fields })
        return ok(templateView(found(await templates.change(accountId, id, change))))
      },
    },
    {
      method: 'DELETE',
      path: '/templates/:id',
      access: 'session',
      summary: 'Delete a template and its versions',
      replies: { 200: deletedSchema('template', 'tpl') },
      async handle(request) {
        const id = await idOf(templates, request)
        orNotFound(await templates.delete(request.credential.accountId, id), 'Template')
        return ok({ object: 'template', id: wireId('tpl', id), deleted: true })
      },
    },
  ]
}

function draftRoutes(templates: Templates): Route[] {
  return [
    {
      method: 'POST',
      path: '/templates/:id/publish',
      access: 'session',
      summary: 'Publish a template: emails are made of its present content',
      replies: { 200: templateSchema },
      async handle(request) {
        const id = await idOf(templates, request)
        return ok(templateView(found(await templates.publish(request.credential.accountId, id))))
      },
    },
    {
      method: 'POST',
      path: '/templates/:id/duplicate',
      access: 'session',
      summary: 'Duplicate a template as a draft without an alias',
      replies: { 201: templateSchema },
      async handle(request) {
        const id = await idOf(templates, request)
        return created(templateView(found(await templates.duplicate(request.credential.accountId, id))))
      },
    },
  ]
}

function versionRoutes(templates: Templates): Route[] {
  return [
    {
      method: 'GET',
      path: '/templates/:id/versions',
      access: 'session',
      summary: 'List the versions of a template',
      replies: { 200: z.array(versionRowSchema) },
      async handle(request) {
        const id = await idOf(templates, request)
        const versions = await templates.versions(request.credential.accountId, id)
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
        const { id, version: number } = await versionKeyOf(templates, request)
        const version = await templates.version(request.credential.accountId, id, number)
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
        const { id, version } = await versionKeyOf(templates, request)
        const template = await templates.restore(request.credential.accountId, id, version)
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
async function idOf(templates: Templates, { params, credential }: ApiRequest): Promise<Id> {
  const ref = parseTemplateRef(params.id!)
  return orNotFound(ref && (await templates.resolve(credential.accountId, ref)), 'Template')
}

async function versionKeyOf(templates: Templates, request: ApiRequest) {
  const version = request.params.version!
  if (!/^[1-9]\d{0,8}$/.test(version)) throw notFound('Template version')
  return { id: await idOf(templates, request), version: Number(version) }
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
