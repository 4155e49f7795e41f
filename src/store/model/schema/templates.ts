/** Tables of templates. */
import type { Id } from '../../../lib/ids.ts'
import type { Json } from './values.ts'

/** The columns of a template's content, apart from html and text. */
interface TemplateContentColumns {
  name: string
  subject: string | null
  contentId: number
  /** Default sender, in the format of an email's sender. */
  sender: Json | null
  replyToList: Json | null
  /** Declared variables, in the format of `declared.ts`. */
  variables: Json | null
}

export interface TemplateRow extends TemplateContentColumns {
  accountId: Id
  id: Id
  /** Name that requests may use in place of the id; unique in the account. */
  alias: string | null
  /** Name, folded for searches. */
  foldedName: string
  /** Number of versions, which is also the number of the last one. */
  versionCount: number
  /** Null for a template that has never been published. It is sent as it is. */
  publishedAt: number | null
  /** Version that is sent; null if the present content is sent. */
  publishedVersion: number | null
  createdAt: number
  updatedAt: number
}

/** A former version of a template. */
export interface TemplateVersionRow extends TemplateContentColumns {
  accountId: Id
  templateId: Id
  /** Number of the version, from 1, without gaps. */
  version: number
  /** Time at which the version was replaced. */
  createdAt: number
}
