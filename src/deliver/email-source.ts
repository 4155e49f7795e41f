/** What the composer needs of a stored email. */
import type { StoredAttachment } from '../accept/accept.ts'
import type { Id } from '../lib/ids.ts'
import { type Content, decodeContent } from '../store/contents.ts'
import { preparedQuery } from '../store/prepared.ts'
import type { Db, EmailRow } from '../store/schema.ts'

export interface EmailSource
  extends Pick<
    EmailRow,
    | 'domainId'
    | 'sender'
    | 'toList'
    | 'ccList'
    | 'replyToList'
    | 'subject'
    | 'headers'
    | 'messageId'
    | 'recipientCount'
    | 'createdAt'
  > {
  content: Content
  attachments: StoredAttachment[]
}

const query = preparedQuery((db: Db, accountId: Id, emailId: Id) =>
  db
    .selectFrom('emails')
    .innerJoin('contents', 'contents.id', 'emails.contentId')
    .select(['domainId', 'sender', 'toList', 'ccList', 'replyToList', 'subject', 'headers'])
    .select(['messageId', 'recipientCount', 'createdAt', 'attachments', 'encoding', 'body'])
    .where('accountId', '=', accountId)
    .where('emails.id', '=', emailId),
)

export async function readEmailSource(db: Db, accountId: Id, emailId: Id): Promise<EmailSource | undefined> {
  const [row] = await query(db, accountId, emailId)
  if (!row) return undefined
  const { attachments, encoding, body, ...source } = row
  return {
    ...source,
    content: decodeContent({ encoding, body }),
    attachments: attachments === null ? [] : (JSON.parse(attachments) as StoredAttachment[]),
  }
}
