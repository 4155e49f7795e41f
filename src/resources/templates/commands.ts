/** Commands that change templates. The former state of a changed template is kept as a numbered version. */
import { foldText } from '../../lib/fold-text.ts'
import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/command.ts'
import type { TemplateRow, TemplateVersionRow } from '../../store/schema.ts'
import type { Content } from '../emails/content.ts'
import { releaseContents, shareContent, storeContent } from '../emails/content-rows.ts'
import { findTemplate, type StoredTemplate } from './template-rows.ts'

/** The fields of a template that a user writes. */
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

  /** Returns undefined if the account has no such template. Unchanged fields make no version. */
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

  /** Returns undefined if the account has no such template or the template has no such version. */
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

  /** Deletes a template with all its versions. Returns false if the account has no such template. */
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
 * Stores the present state as the next version. The version takes over the template's reference to the
 * content.
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
