/** Reads the columns and the content of an email that the composer needs. */
import { BoundedMap } from '../../lib/bounded-map.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import type { Content } from '../../store/model/schema/contents.ts'
import { EMAIL_SOURCE_COLUMNS, type EmailSource } from '../../store/model/schema/emails.ts'
import type { Find } from '../../store/reading/read.ts'
import { decodeContent } from './content.ts'
import { messageIdOf } from './email-rows.ts'

export type { EmailSource }

const READ_COLUMNS = [...EMAIL_SOURCE_COLUMNS, 'contentId'] as const

type ReadEmailSource = (accountId: Id, id: Id) => Promise<EmailSource | undefined>

export async function readEmailSource(find: Find, accountId: Id, id: Id): Promise<EmailSource | undefined> {
  return createEmailSources(find)(accountId, id)
}

/** Number of cached contents. Several broadcasts may be sent at the same time. */
const CACHED_CONTENTS_MAX = 16
/** Larger contents are not cached. */
const CACHED_CHARACTERS_MAX = 1024 * 1024

/**
 * Reads emails. The content that emails of a broadcast share is read once and is the same object for all of
 * them while it is cached.
 */
export function createEmailSources(find: Find): ReadEmailSource {
  /**
   * Least recently used first. The key contains the broadcast, since the key of a deleted content may be
   * assigned again.
   */
  const cache = new BoundedMap<string, Content>(CACHED_CONTENTS_MAX)

  const keep = (key: string, content: Content) => {
    if ((content.html?.length ?? 0) + (content.text?.length ?? 0) > CACHED_CHARACTERS_MAX) return
    cache.set(key, content)
  }
  return async (accountId, id) => {
    const [row] = await find('emails', [{ accountId, id }], READ_COLUMNS)
    if (!row) return undefined
    const { contentId, broadcastId } = row
    const key = broadcastId === null ? undefined : `${idKey(broadcastId)} ${contentId}`
    const known = key === undefined ? undefined : cache.get(key)
    const content = known ?? (await readContent(find, contentId))
    if (!content) return undefined
    if (key !== undefined) keep(key, content)
    // The row object is reused, since one is made per sent email.
    const messageId = messageIdOf({ messageId: row.messageId, id, sender: row.sender })
    return Object.assign(row, { accountId, id, messageId, content })
  }
}

async function readContent(find: Find, id: number): Promise<Content | undefined> {
  const [stored] = await find('contents', [{ id }], ['encoding', 'body'])
  return stored && decodeContent(stored)
}
