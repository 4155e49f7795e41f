/** Tables of templates. */
import type { Id } from '../../lib/ids.ts'

export interface TemplateRow {
  accountId: Id
  id: Id
  name: string
  /** As searches see it. */
  foldedName: string
  subject: string | null
  contentId: number
  /** Also the number of its last version. */
  versionCount: number
  createdAt: number
  updatedAt: number
}

/** What a template said before it was changed. */
export interface TemplateVersionRow {
  accountId: Id
  templateId: Id
  /** From 1, without gaps. */
  version: number
  name: string
  subject: string | null
  contentId: number
  /** When it was replaced. */
  createdAt: number
}
