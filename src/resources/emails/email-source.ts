/** Reads what the composer needs of a stored email. */
import { type Id, idKey } from '../../lib/ids.ts'
import type { Find } from '../../store/read.ts'
import type { Content } from '../../store/schema/contents.ts'
import { EMAIL_SOURCE_COLUMNS, type EmailSource } from '../../store/schema/emails.ts'
import { decodeContent } from './content.ts'
import { messageIdOf } from './email-rows.ts'

export type { EmailSource }

const READ_COLUMNS = [...EMAIL_SOURCE_COLUMNS, 'contentId'] as const

type ReadEmailSource = (accountId: Id, id: Id) => Promise<EmailSource | undefined>

export async function readEmailSource(find: Find, accountId: Id, id: Id): Promise<EmailSource | undefined> {
  return createEmailSources(find, 0)(accountId, id)
}

/** Of one broadcast at a time there are many emails; several go out beside each other. */
const KEPT_CONTENTS = 16
/** A larger one is read every time. */
const KEPT_CHARACTERS_MAX = 1024 * 1024

/**
 * Reads emails. What emails of a broadcast have in common is read once: it is one and the same object for
 * them all, as long as it is remembered.
 */
export function createEmailSources(find: Find, keptContents = KEPT_CONTENTS): ReadEmailSource {
  /**
   * The least recently used first. By the broadcast, too: a key whose content is gone may be given to
   * another.
   */
  const kept = new Map<string, Content>()

  const keep = (key: string, content: Content) => {
    if ((content.html?.length ?? 0) + (content.text?.length ?? 0) > KEPT_CHARACTERS_MAX) return
    kept.delete(key)
    kept.set(key, content)
    if (kept.size > keptContents) kept.delete(kept.keys().next().value!)
  }
  return async (accountId, id) => {
    const [row] = await find('emails', [{ accountId, id }], READ_COLUMNS)
    if (!row) return undefined
    const { contentId, broadcastId } = row
    const key = broadcastId === null ? undefined : `${idKey(broadcastId)} ${contentId}`
    const known = key === undefined ? undefined : kept.get(key)
    const content = known ?? (await readContent(find, contentId))
    if (!content) return undefined
    if (key !== undefined) keep(key, content)
    // the row itself: there is one for each email that is sent
    const messageId = messageIdOf({ messageId: row.messageId, id, sender: row.sender })
    return Object.assign(row, { accountId, id, messageId, content })
  }
}

async function readContent(find: Find, id: number): Promise<Content | undefined> {
  const [stored] = await find('contents', [{ id }], ['encoding', 'body', 'sizeBytes'])
  return stored && decodeContent(stored)
}
