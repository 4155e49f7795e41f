/** Emails in numbers that nobody would want to wait for, put straight into the database of a service. */
import type { Id } from '../../src/lib/ids.ts'
import { insertRows } from './database.ts'
import type { Mailhorn } from './mailhorn.ts'
import { newId } from './new-id.ts'

/**
 * Delivered emails of the first account, a second apart, the last one now; `subjectOf` names each by its
 * number.
 */
export function addEmails(mailhorn: Mailhorn, count: number, subjectOf: (i: number) => string): void {
  const [user] = mailhorn.rows<{ accountId: Id }>(
    'select account_id as "accountId" from users where operator = 1',
  )
  const begin = mailhorn.clock.now() - count * 1_000
  const rows = Array.from({ length: count }, (_, i) => {
    const at = begin + i * 1_000
    return {
      account_id: user!.accountId,
      id: newId(at),
      sender: '[{"address":"many@here.example"}]',
      to_list: `[{"address":"user${i}@there.example"}]`,
      subject: subjectOf(i),
      content_id: 0,
      message_id: `<${i}@here.example>`,
      status: 'delivered',
      recipient_count: 1,
      feedback: 1,
      created_at: at,
      sent_at: at,
      last_event_at: at,
      ended_at: at,
    }
  })
  insertRows(mailhorn, 'emails', rows)
}
