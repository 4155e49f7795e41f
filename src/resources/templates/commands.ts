/**
 * Commands that change templates. The former content of a changed template is kept as a numbered version.
 *
 * A template is sent as it is until it has been published. After that, a change either is published at once
 * or makes a draft: the version that was sent before remains the one that is sent, until the template is
 * published again.
 */
import { copyName } from '../../lib/copy-name.ts'
import { foldText } from '../../lib/fold-text.ts'
import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import { changeOwn, deleteOwn, findOwn, type OwnKey } from '../../store/model/own-row.ts'
import type { TemplateRow } from '../../store/model/schema.ts'
import type { Content } from '../emails/content.ts'
import { releaseContents, shareContent, storeContent } from '../emails/content-rows.ts'
import { TEMPLATE_NAME_LENGTH_MAX } from './limits.ts'
import { findTemplate, type StoredTemplate, sentState } from './template-rows.ts'

/** The content of a template, which a user writes. */
export interface TemplateFields
  extends Content,
    Pick<TemplateRow, 'name' | 'subject' | 'sender' | 'replyToList' | 'variables'> {}

/** Absent fields are not changed. */
export interface TemplateChange {
  fields: Partial<TemplateFields>
  alias?: string | null
  /** Publishes the change at once if the template is published. */
  isLive: boolean
}

/** The answer if another template of the account has the alias. */
export const ALIAS_TAKEN = 'alias taken'
type AliasTaken = typeof ALIAS_TAKEN

export const templateCommands = {
  createTemplate: command<
    OwnKey & { fields: TemplateFields; alias: string | null; at: number },
    StoredTemplate | AliasTaken
  >(async (tx, { accountId, id, fields, alias, at }) => {
    if (await isTaken(tx, { accountId, id }, alias)) return ALIAS_TAKEN
    const { html, text, ...columns } = fields
    const contentId = await storeContent(tx, { html, text })
    return insert(tx, { accountId, id }, { ...columns, alias, contentId }, at)
  }),

  /**
   * Returns undefined if the account has no such template. Unchanged fields make no version.
   */
  changeTemplate: command<OwnKey & TemplateChange & { at: number }, StoredTemplate | AliasTaken | undefined>(
    async (tx, { accountId, id, fields, alias, isLive, at }) => {
      const current = await findTemplate(tx.db, accountId, id)
      if (!current) return undefined
      if (await isTaken(tx, { accountId, id }, alias ?? null)) return ALIAS_TAKEN
      const wanted = { ...fieldsOf(current), ...fields }
      const isSame = FIELDS.every(field => wanted[field] === current[field])
      const isSameAlias = alias === undefined || alias === current.alias
      const isDraftToPublish = isLive && current.publishedVersion !== null
      if (isSame && isSameAlias && !isDraftToPublish) return current
      const change = { ...(alias !== undefined && { alias }), updatedAt: at }
      const published = isLive ? publishedNow(current, at) : {}
      if (isSame) await changeOwn(tx.db, 'templates', { accountId, id }, { ...change, ...published })
      else {
        const row = await keepAsVersion(tx, { accountId, id }, at)
        const { html, text, ...columns } = wanted
        const isSameContent = html === current.html && text === current.text
        if (isSameContent) await shareContent(tx, row.contentId)
        const contentId = isSameContent ? row.contentId : await storeContent(tx, { html, text })
        const drafted = isLive || current.publishedAt === null ? {} : { publishedVersion: sentState(row) }
        await write(tx, row, { ...columns, contentId, ...change, ...published, ...drafted })
      }
      return findTemplate(tx.db, accountId, id)
    },
  ),

  /** Returns undefined if the account has no such template or the template has no such version. */
  restoreTemplate: command<OwnKey & { version: number; at: number }, StoredTemplate | undefined>(
    async (tx, { accountId, id, version, at }) => {
      const former = await tx.db
        .selectFrom('templateVersions')
        .select(['name', 'subject', 'contentId', 'sender', 'replyToList', 'variables'])
        .where('accountId', '=', accountId)
        .where('templateId', '=', id)
        .where('version', '=', version)
        .executeTakeFirst()
      if (!former) return undefined
      const row = await keepAsVersion(tx, { accountId, id }, at)
      await shareContent(tx, former.contentId)
      await write(tx, row, { ...former, ...publishedNow(row, at), updatedAt: at })
      return findTemplate(tx.db, accountId, id)
    },
  ),

  /** Publishes the present content. Returns undefined if the account has no such template. */
  publishTemplate: command<OwnKey & { at: number }, StoredTemplate | undefined>(
    async (tx, { accountId, id, at }) => {
      const current = await findTemplate(tx.db, accountId, id)
      if (!current || (current.publishedAt !== null && current.publishedVersion === null)) return current
      await changeOwn(tx.db, 'templates', { accountId, id }, { publishedAt: at, publishedVersion: null })
      return findTemplate(tx.db, accountId, id)
    },
  ),

  /**
   * Creates a template with the present content of another one, named `… (copy)`. The copy has no alias and
   * is not published.
   * Returns undefined if the account has no such template.
   */
  duplicateTemplate: command<OwnKey & { copyId: Id; at: number }, StoredTemplate | undefined>(
    async (tx, { accountId, id, copyId, at }) => {
      const row = await findOwn(tx.db, 'templates', { accountId, id })
      if (!row) return undefined
      const { name, subject, sender, replyToList, variables, contentId } = row
      await shareContent(tx, contentId)
      const content = { subject, sender, replyToList, variables, contentId }
      const columns = { ...content, name: copyName(name, TEMPLATE_NAME_LENGTH_MAX), alias: null }
      return insert(tx, { accountId, id: copyId }, columns, at)
    },
  ),

  /** Deletes a template with all its versions. Returns false if the account has no such template. */
  deleteTemplate: command<OwnKey, boolean>(async (tx, { accountId, id }) => {
    const template = await deleteOwn(tx.db, 'templates', { accountId, id })
    if (!template) return false
    const versions = await tx.db
      .deleteFrom('templateVersions')
      .where('accountId', '=', accountId)
      .where('templateId', '=', id)
      .returning('contentId')
      .execute()
    await releaseContents(
      tx,
      [template, ...versions].map(({ contentId }) => contentId),
    )
    return true
  }),
}

const FIELDS = ['name', 'subject', 'html', 'text', 'sender', 'replyToList', 'variables'] as const

function fieldsOf({
  name,
  subject,
  html,
  text,
  sender,
  replyToList,
  variables,
}: TemplateFields): TemplateFields {
  return { name, subject, html, text, sender, replyToList, variables }
}

/** A template that has never been published does not become published by a change. */
function publishedNow(
  { publishedAt }: Pick<TemplateRow, 'publishedAt'>,
  at: number,
): Pick<TemplateRow, 'publishedVersion'> & Partial<Pick<TemplateRow, 'publishedAt'>> {
  return { publishedVersion: null, ...(publishedAt !== null && { publishedAt: at }) }
}

async function isTaken(tx: Tx, { accountId, id }: OwnKey, alias: string | null): Promise<boolean> {
  if (alias === null) return false
  const other = await tx.db
    .selectFrom('templates')
    .select('id')
    .where('accountId', '=', accountId)
    .where('alias', '=', alias)
    .where('id', '<>', id)
    .executeTakeFirst()
  return other !== undefined
}

async function insert(
  tx: Tx,
  key: OwnKey,
  columns: Omit<TemplateFields, keyof Content> & Pick<TemplateRow, 'alias' | 'contentId'>,
  at: number,
): Promise<StoredTemplate> {
  const row: TemplateRow = {
    ...key,
    ...columns,
    foldedName: foldText(columns.name),
    versionCount: 0,
    publishedAt: null,
    publishedVersion: null,
    createdAt: at,
    updatedAt: at,
  }
  await tx.db.insertInto('templates').values(row).execute()
  return (await findTemplate(tx.db, key.accountId, key.id))!
}

/**
 * Stores the present content as the next version. The version takes over the template's reference to the
 * content.
 */
async function keepAsVersion(tx: Tx, { accountId, id }: OwnKey, at: number): Promise<TemplateRow> {
  const row = (await findOwn(tx.db, 'templates', { accountId, id }))!
  const { name, subject, contentId, sender, replyToList, variables, versionCount } = row
  const version = versionCount + 1
  const columns = { name, subject, contentId, sender, replyToList, variables, createdAt: at }
  await tx.db
    .insertInto('templateVersions')
    .values({ accountId, templateId: id, version, ...columns })
    .execute()
  return row
}

/** Writes the content that follows the version that has been kept. */
async function write(
  tx: Tx,
  { accountId, id, versionCount }: TemplateRow,
  columns: Omit<TemplateFields, keyof Content> & Partial<TemplateRow>,
): Promise<void> {
  const folded = { foldedName: foldText(columns.name), versionCount: versionCount + 1 }
  await changeOwn(tx.db, 'templates', { accountId, id }, { ...columns, ...folded })
}
