/** Serves templates and their versions. */
import * as z from 'zod'
import { parseWireId, wireId } from '../../../lib/ids.ts'
import { TEMPLATE_NAME_LENGTH_MAX } from '../../../resources/templates/limits.ts'
import type { Templates } from '../../../resources/templates/templates.ts'
import { invalidField, notFound } from '../api-error.ts'
import { type ApiRequest, created, ok, pageReply, type Route } from '../route.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import {
  readTemplateBody,
  templateBodySchema,
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
  return [...templateObjectRoutes(templates), ...versionRoutes(templates)]
}

function templateObjectRoutes(templates: Templates): Route[] {
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
        const fields = readTemplateBody(await request.body())
        return created(templateView(await templates.create(request.credential.accountId, fields)))
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
      summary: 'Retrieve a template',
      replies: { 200: templateSchema },
      async handle(request) {
        const template = await templates.find(request.credential.accountId, idOf(request))
        if (!template) throw notFound('Template')
        return ok(templateView(template))
      },
    },
    {
      method: 'PUT',
      path: '/templates/:id',
      access: 'session',
      bodyLimitBytes: TEMPLATE_BODY_LIMIT_BYTES,
      summary: 'Replace all four fields of a template',
      body: templateBodySchema,
      replies: { 200: templateSchema },
      async handle(request) {
        const id = idOf(request)
        const fields = readTemplateBody(await request.body())
        const template = await templates.replace(request.credential.accountId, id, fields)
        if (!template) throw notFound('Template')
        return ok(templateView(template))
      },
    },
    {
      method: 'DELETE',
      path: '/templates/:id',
      access: 'session',
      summary: 'Delete a template',
      replies: { 200: deletedSchema('template', 'tpl') },
      async handle(request) {
        const id = idOf(request)
        if (!(await templates.delete(request.credential.accountId, id))) throw notFound('Template')
        return ok({ object: 'template', id: wireId('tpl', id), deleted: true })
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
        const versions = await templates.versions(request.credential.accountId, idOf(request))
        if (!versions) throw notFound('Template')
        return ok(versions.map(versionRow))
      },
    },
    {
      method: 'GET',
      path: '/templates/:id/versions/:version',
      access: 'session',
      summary: 'Retrieve a version of a template',
      replies: { 200: versionSchema },
      async handle(request) {
        const { id, version: number } = versionKeyOf(request)
        const version = await templates.version(request.credential.accountId, id, number)
        if (!version) throw notFound('Template version')
        return ok(versionView(version))
      },
    },
    {
      method: 'POST',
      path: '/templates/:id/versions/:version/restore',
      access: 'session',
      summary: 'Restore a version of a template',
      replies: { 200: templateSchema },
      async handle(request) {
        const { id, version } = versionKeyOf(request)
        const template = await templates.restore(request.credential.accountId, id, version)
        if (!template) throw notFound('Template version')
        return ok(templateView(template))
      },
    },
  ]
}

function idOf({ params }: ApiRequest) {
  const id = parseWireId('tpl', params.id!)
  if (!id) throw notFound('Template')
  return id
}

function versionKeyOf({ params }: ApiRequest) {
  const id = parseWireId('tpl', params.id!)
  if (!id || !/^[1-9]\d{0,8}$/.test(params.version!)) throw notFound('Template version')
  return { id, version: Number(params.version) }
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
