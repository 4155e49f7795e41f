/** Emails in numbers that nobody would want to wait for, put straight into the database of a service. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createIdSource, type Id } from '../../src/lib/ids.ts'
import type { Posthorn } from './posthorn.ts'

const newId = createIdSource()

/** Delivered emails of the first account, a second apart, the last one now; `subjectOf` names each by its number. */
export function addEmails(posthorn: Posthorn, count: number, subjectOf: (i: number) => string): void {
  const database = new Database(join(posthorn.dataDir, 'posthorn.db'), { timeout: 5_000 })
  try {
    const { accountId } = database
      .prepare('select account_id as "accountId" from users where operator = 1')
      .get() as { accountId: Id }
    const insert = database.prepare(
      `insert into emails (account_id, id, sender, to_list, subject, content_id, message_id, status,
         recipient_count, feedback, created_at, sent_at, last_event_at, ended_at)
       values (?, ?, ?, ?, ?, 0, ?, 'delivered', 1, 1, ?, ?, ?, ?)`,
    )
    const begin = posthorn.clock.now() - count * 1_000
    database.exec('begin immediate')
    for (let i = 0; i < count; i++) {
      const at = begin + i * 1_000
      const to = `[{"address":"user${i}@there.example"}]`
      const messageId = `<${i}@here.example>`
      insert.run(
        accountId,
        newId(at),
        '[{"address":"many@here.example"}]',
        to,
        subjectOf(i),
        messageId,
        at,
        at,
        at,
        at,
      )
    }
    database.exec('commit')
  } finally {
    database.close()
  }
}
