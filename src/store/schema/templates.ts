/** Tables of templates. */
import type { Id } from '../../lib/ids.ts'

export interface TemplateRow {
  accountId: Id
  id: Id
  name: string
  /** Name, folded for searches. */
  foldedName: string
  subject: string | null
  contentId: number
  /** Number of versions, which is also the number of the last one. */
  versionCount: number
  createdAt: number
  updatedAt: number
}

/** A former version of a template. */
export interface TemplateVersionRow {
  accountId: Id
  templateId: Id
  /** Number of the version, from 1, without gaps. */
  version: number
  name: string
  subject: string | null
  contentId: number
  /** Time at which the version was replaced. */
  createdAt: number
}
