/** Reads templates and their versions. */
import { sql } from 'kysely'
import { foldText } from '../../lib/fold-text.ts'
import type { Id } from '../../lib/ids.ts'
import { type FoundPage, findPage, type ListPage } from '../../store/list-page.ts'
import { containing } from '../../store/pattern.ts'
import type { Find } from '../../store/read.ts'
import type { ContentRow, Db, TemplateRow, TemplateVersionRow } from '../../store/schema.ts'
import { type Content, decodeContent } from '../emails/content.ts'

/** A template without html and text. */
export type TemplateFacts = Pick<TemplateRow, 'id' | 'name' | 'subject' | 'createdAt' | 'updatedAt'>
export type StoredTemplate = TemplateFacts & Content

/** A version without html and text. */
export type VersionFacts = Pick<TemplateVersionRow, 'version' | 'name' | 'subject' | 'createdAt'>
export type StoredVersion = VersionFacts & Content

const FACTS = ['id', 'name', 'subject', 'createdAt', 'updatedAt'] as const
const VERSION_FACTS = ['version', 'name', 'subject', 'createdAt'] as const

/** Reads all parts in one snapshot. */
export async function findTemplate(db: Db, accountId: Id, id: Id): Promise<StoredTemplate | undefined> {
  const row = await db
    .selectFrom('templates')
    .innerJoin('contents', 'contents.id', 'templates.contentId')
    .select(['templates.id', 'name', 'subject', 'createdAt', 'updatedAt', 'encoding', 'body'])
    .where('accountId', '=', accountId)
    .where('templates.id', '=', id)
    .executeTakeFirst()
  return row && withContent(row)
}

/**
 * Reads a template for sending, with prepared statements. The key of a content without references may be
 * assigned again, so the template is read once more after the content.
 */
export async function readTemplate(
  find: Find,
  accountId: Id,
  id: Id,
): Promise<(Pick<TemplateRow, 'subject' | 'contentId'> & Content) | undefined> {
  for (;;) {
    const [row] = await find('templates', [{ accountId, id }], ['subject', 'contentId'])
    if (!row) return undefined
    const [content] = await find('contents', [{ id: row.contentId }], ['encoding', 'body'])
    const [after] = await find('templates', [{ accountId, id }], ['contentId'])
    if (content && after?.contentId === row.contentId) return { ...row, ...decodeContent(content) }
  }
}

/** Newest first. With `search`, only templates whose name contains it are listed. */
export async function listTemplates(
  db: Db,
  accountId: Id,
  page: ListPage & { search: string },
): Promise<FoundPage<TemplateFacts>> {
  const all = db.selectFrom('templates').where('accountId', '=', accountId)
  const wanted =
    page.search === ''
      ? all
      : all.where(sql<boolean>`folded_name like ${containing(foldText(page.search))} escape '!'`)
  return findPage(wanted, wanted.select(FACTS), page)
}

/**
 * Newest first.
 * @returns undefined if the account has no such template
 */
export async function listVersions(db: Db, accountId: Id, id: Id): Promise<VersionFacts[] | undefined> {
  const template = await db
    .selectFrom('templates')
    .select('id')
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!template) return undefined
  return db
    .selectFrom('templateVersions')
    .select(VERSION_FACTS)
    .where('accountId', '=', accountId)
    .where('templateId', '=', id)
    .orderBy('version', 'desc')
    .execute()
}

export async function findVersion(
  db: Db,
  accountId: Id,
  id: Id,
  version: number,
): Promise<StoredVersion | undefined> {
  const row = await db
    .selectFrom('templateVersions')
    .innerJoin('contents', 'contents.id', 'templateVersions.contentId')
    .select([...VERSION_FACTS, 'encoding', 'body'])
    .where('accountId', '=', accountId)
    .where('templateId', '=', id)
    .where('version', '=', version)
    .executeTakeFirst()
  return row && withContent(row)
}

function withContent<R extends Pick<ContentRow, 'encoding' | 'body'>>(
  row: R,
): Omit<R, 'encoding' | 'body'> & Content {
  const { encoding, body, ...facts } = row
  return { ...facts, ...decodeContent({ encoding, body }) }
}
