/** Reads templates and their versions. */
import { sql } from 'kysely'
import { foldText } from '../../lib/fold-text.ts'
import type { Id } from '../../lib/ids.ts'
import { containing } from '../../store/model/pattern.ts'
import type { ContentRow, Db, TemplateRow, TemplateVersionRow } from '../../store/model/schema.ts'
import { type FoundPage, findPage, type ListPage } from '../../store/reading/list-page.ts'
import type { Find } from '../../store/reading/read.ts'
import { type Content, decodeContent } from '../emails/content.ts'

/** A template is named by its id or its alias. */
export type TemplateRef = Id | { alias: string }

/** A template without its content. */
export type TemplateFacts = Pick<
  TemplateRow,
  'id' | 'alias' | 'name' | 'subject' | 'publishedAt' | 'createdAt' | 'updatedAt'
>
/** A template with its present content, which is a draft if it has a `publishedVersion`. */
export type StoredTemplate = TemplateFacts & Pick<TemplateRow, DraftFact | ContentFact> & Content

/** A version without its content. */
export type VersionFacts = Pick<TemplateVersionRow, 'version' | 'name' | 'subject' | 'createdAt'>
export type StoredVersion = VersionFacts & Pick<TemplateVersionRow, ContentFact> & Content

/** What emails are made of: the published content of a template, or the present one if none is published. */
export type LiveTemplate = Pick<TemplateRow, 'id' | 'subject' | ContentFact> & { state: number } & Content

type DraftFact = 'versionCount' | 'publishedVersion'
type ContentFact = 'sender' | 'replyToList' | 'variables'

const FACTS = ['id', 'alias', 'name', 'subject', 'publishedAt', 'createdAt', 'updatedAt'] as const
const VERSION_FACTS = ['version', 'name', 'subject', 'createdAt'] as const
const CONTENT_FACTS = ['sender', 'replyToList', 'variables'] as const
/** Columns that tell which content is sent. */
const STATE = ['id', 'versionCount', 'publishedVersion'] as const
const SENT_COLUMNS = ['subject', 'contentId', ...CONTENT_FACTS] as const

/** @returns undefined if the account has no such template */
export async function resolveTemplate(db: Db, accountId: Id, ref: TemplateRef): Promise<Id | undefined> {
  const ofAccount = db.selectFrom('templates').select('id').where('accountId', '=', accountId)
  const wanted = 'alias' in ref ? ofAccount.where('alias', '=', ref.alias) : ofAccount.where('id', '=', ref)
  return (await wanted.executeTakeFirst())?.id
}

/** Reads all parts in one snapshot. */
export async function findTemplate(db: Db, accountId: Id, id: Id): Promise<StoredTemplate | undefined> {
  const row = await db
    .selectFrom('templates')
    .innerJoin('contents', 'contents.id', 'templates.contentId')
    .select(['templates.id', 'alias', 'name', 'subject', 'publishedAt', 'createdAt', 'updatedAt'])
    .select(['versionCount', 'publishedVersion', ...CONTENT_FACTS, 'encoding', 'body'])
    .where('accountId', '=', accountId)
    .where('templates.id', '=', id)
    .executeTakeFirst()
  return row && withContent(row)
}

/** Number of the state of a template that is sent. The content of a state never changes. */
export function sentState({ versionCount, publishedVersion }: Pick<TemplateRow, DraftFact>): number {
  return publishedVersion ?? versionCount + 1
}

/** Reads which state of a template is sent. */
export async function findSentState(
  find: Find,
  accountId: Id,
  ref: TemplateRef,
): Promise<Pick<TemplateRow, (typeof STATE)[number]> | undefined> {
  const [row] =
    'alias' in ref
      ? await find('templates', [{ accountId, alias: ref.alias }], STATE)
      : await find('templates', [{ accountId, id: ref }], STATE)
  return row
}

/**
 * Reads a template for sending, with prepared statements. The key of a content without references may be
 * assigned again, so the template is read once more after the content.
 */
export async function readTemplate(
  find: Find,
  accountId: Id,
  ref: TemplateRef,
): Promise<LiveTemplate | undefined> {
  for (;;) {
    const before = await findSentState(find, accountId, ref)
    if (!before) return undefined
    const { id } = before
    const state = sentState(before)
    const [row] =
      before.publishedVersion === null
        ? await find('templates', [{ accountId, id }], [...SENT_COLUMNS])
        : await find('templateVersions', [{ accountId, templateId: id, version: state }], [...SENT_COLUMNS])
    const [content] = row ? await find('contents', [{ id: row.contentId }], ['encoding', 'body']) : []
    const after = await findSentState(find, accountId, id)
    if (row && content && after?.versionCount === before.versionCount && sentState(after) === state)
      return { ...row, id, state, ...decodeContent(content) }
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
  if (!(await resolveTemplate(db, accountId, id))) return undefined
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
    .select([...VERSION_FACTS, ...CONTENT_FACTS, 'encoding', 'body'])
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
