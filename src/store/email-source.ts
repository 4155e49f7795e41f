/** What the composer needs of a stored email. */
import type { Id } from '../lib/ids.ts'
import { type Content, decodeContent } from './contents.ts'
import type { Find } from './read.ts'
import type { EmailRow } from './schema.ts'

const COLUMNS = [
  'domainId',
  'sender',
  'toList',
  'ccList',
  'replyToList',
  'subject',
  'headers',
  'attachments',
  'raw',
  'messageId',
  'recipientCount',
  'createdAt',
  'scheduledAt',
] as const

/** Lists are JSON, as in the row. */
export interface EmailSource extends Pick<EmailRow, (typeof COLUMNS)[number]> {
  content: Content
}

export async function readEmailSource(find: Find, accountId: Id, id: Id): Promise<EmailSource | undefined> {
  const [row] = await find('emails', [{ accountId, id }], [...COLUMNS, 'contentId'])
  const [content] = row ? await find('contents', [{ id: row.contentId }], ['encoding', 'body']) : []
  if (!row || !content) return undefined
  const { contentId: _, ...source } = row
  return { ...source, content: decodeContent(content) }
}
