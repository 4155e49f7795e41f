/** What changes templates in the store; what a change replaces is kept as a numbered version. */
import { foldText } from '../../lib/fold-text.ts'
import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/command.ts'
import type { TemplateRow, TemplateVersionRow } from '../../store/schema.ts'
import type { Content } from '../emails/content.ts'
import { releaseContents, shareContent, storeContent } from '../emails/content-rows.ts'
import { findTemplate, type StoredTemplate } from './template-rows.ts'

/** All that a user writes of a template. */
export interface TemplateFields extends Content {
  name: string
  subject: string | null
}

interface TemplateKey {
  accountId: Id
  id: Id
}

export const templateCommands = {
  createTemplate: command<TemplateKey & { fields: TemplateFields; at: number }, StoredTemplate>(
    async (tx, { accountId, id, fields, at }) => {
      const { name, subject, html, text } = fields
      const row: TemplateRow = {
        accountId,
        id,
        name,
        foldedName: foldText(name),
        subject,
        contentId: await storeContent(tx, { html, text }),
        versionCount: 0,
        createdAt: at,
        updatedAt: at,
      }
      await tx.db.insertInto('templates').values(row).execute()
      return { id, ...fields, createdAt: at, updatedAt: at }
    },
  ),

  /** Undefined when the account has no such template. Fields that are as they were make no version. */
  replaceTemplate: command<TemplateKey & { fields: TemplateFields; at: number }, StoredTemplate | undefined>(
    async (tx, { accountId, id, fields, at }) => {
      const current = await findTemplate(tx.db, accountId, id)
      if (!current) return undefined
      const { name, subject, html, text } = fields
      const sameContent = html === current.html && text === current.text
      if (sameContent && name === current.name && subject === current.subject) return current
      const row = await keepAsVersion(tx, { accountId, id }, at)
      let { contentId } = row
      if (sameContent) await shareContent(tx, contentId)
      else contentId = await storeContent(tx, { html, text })
      await write(tx, row, { name, subject, contentId }, at)
      return { ...current, ...fields, updatedAt: at }
    },
  ),

  /** Undefined when the account has no such template or the template no such version. */
  restoreTemplate: command<TemplateKey & { version: number; at: number }, StoredTemplate | undefined>(
    async (tx, { accountId, id, version, at }) => {
      const former = await tx.db
        .selectFrom('templateVersions')
        .select(['name', 'subject', 'contentId'])
        .where('accountId', '=', accountId)
        .where('templateId', '=', id)
        .where('version', '=', version)
        .executeTakeFirst()
      if (!former) return undefined
      const row = await keepAsVersion(tx, { accountId, id }, at)
      await shareContent(tx, former.contentId)
      await write(tx, row, former, at)
      return findTemplate(tx.db, accountId, id)
    },
  ),

  /** With all its versions. False when the account has no such template. */
  deleteTemplate: command<TemplateKey, boolean>(async (tx, { accountId, id }) => {
    const template = await tx.db
      .deleteFrom('templates')
      .where('accountId', '=', accountId)
      .where('id', '=', id)
      .returning('contentId')
      .executeTakeFirst()
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

/**
 * What the template says now becomes its next version, which takes over the template's use of the content.
 */
async function keepAsVersion(tx: Tx, { accountId, id }: TemplateKey, at: number): Promise<TemplateRow> {
  const row = await tx.db
    .selectFrom('templates')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const { name, subject, contentId, versionCount } = row
  await tx.db
    .insertInto('templateVersions')
    .values({ accountId, templateId: id, version: versionCount + 1, name, subject, contentId, createdAt: at })
    .execute()
  return row
}

async function write(
  tx: Tx,
  { accountId, id, versionCount }: TemplateRow,
  { name, subject, contentId }: Pick<TemplateVersionRow, 'name' | 'subject' | 'contentId'>,
  at: number,
): Promise<void> {
  await tx.db
    .updateTable('templates')
    .set({
      name,
      foldedName: foldText(name),
      subject,
      contentId,
      versionCount: versionCount + 1,
      updatedAt: at,
    })
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .execute()
}
