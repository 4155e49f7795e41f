/**
 * Received mail put straight into the database of a running service, as it stands there once it has been
 * listed.
 */

import { foldText } from '../../src/lib/fold-text.ts'
import { type Id, parseWireId, wireId } from '../../src/lib/ids.ts'
import { encodeInboundContent } from '../../src/pipeline/inbound/stored-content.ts'
import { readMail } from '../../src/protocols/mime/read/read-mail.ts'
import { threadRefs } from '../../src/resources/emails/threads.ts'
import { sha256 } from '../../src/store/blobs/staged.ts'
import { insertRows } from './database.ts'
import type { Mailhorn } from './mailhorn.ts'
import { newId } from './new-id.ts'

export interface AddedInbound {
  id: string
  attachmentIds: string[]
}

/** @param accountId as the API shows it @param data LF alone ends its lines */
export function addInbound(
  mailhorn: Pick<Mailhorn, 'clock' | 'rows' | 'change'>,
  accountId: string,
  {
    data,
    recipient = 'anyone@mine.example',
    unread = false,
  }: { data: string; recipient?: string; unread?: boolean },
): AddedInbound {
  const now = mailhorn.clock.now()
  const account = parseWireId('acc', accountId)!
  const raw = Buffer.from(data.replace(/\r?\n/g, '\r\n'))
  const { html, text, headers, ...mail } = readMail(raw)
  const parts = mail.parts.map(part => ({ id: wireId('att', newId(now)), ...part }))
  const id = newId(now)
  const rawHash = addBlob(mailhorn, raw, now)
  const contentId = addContent(mailhorn, encodeInboundContent({ html, text, headers }))
  const list = (mailboxes: readonly unknown[]) => (mailboxes.length === 0 ? null : JSON.stringify(mailboxes))
  insertRows(mailhorn, 'inbound_messages', [
    {
      account_id: account,
      id,
      created_at: now,
      domain_id: newId(now),
      sender: 'ann@there.example',
      recipients: JSON.stringify([recipient]),
      client_ip: '127.0.0.1',
      size_bytes: raw.length,
      raw_hash: rawHash,
      listed_at: now,
      subject: mail.subject,
      message_id: mail.messageId,
      from_list: list(mail.from),
      to_list: list(mail.to),
      cc_list: list(mail.cc),
      reply_to_list: list(mail.replyTo),
      attachments: list(parts),
      content_id: contentId,
    },
  ])
  const domains = ` ${recipient.slice(recipient.lastIndexOf('@') + 1)} `
  insertRows(mailhorn, 'inbound_subjects', [
    { account_id: account, id, subject: foldText(mail.subject), domains, unread: unread ? 1 : 0 },
  ])
  const { own, root } = threadRefs(headers, mail.messageId)
  insertRows(mailhorn, 'thread_messages', [
    { account_id: account, id, thread: root ?? own ?? id, message: own },
  ])
  count(mailhorn, account)
  return { id: wireId('inb', id), attachmentIds: parts.map(part => part.id) }
}

function addBlob(mailhorn: Pick<Mailhorn, 'rows' | 'change'>, body: Buffer, now: number): Uint8Array {
  const hash = sha256(body)
  const known = mailhorn.rows('select 1 from blobs where hash = ?', hash)
  if (known.length > 0) mailhorn.change('update blobs set refs = refs + 1 where hash = ?', hash)
  else insertRows(mailhorn, 'blobs', [{ hash, size_bytes: body.length, body, refs: 1, created_at: now }])
  return hash
}

function addContent(
  mailhorn: Pick<Mailhorn, 'rows' | 'change'>,
  { sizeBytes, encoding, body }: ReturnType<typeof encodeInboundContent>,
): number {
  const [found] = mailhorn.rows<{ next: number }>(
    'select coalesce(max(id), 0) + 1000000 as next from contents',
  )
  const id = Number(found!.next)
  insertRows(mailhorn, 'contents', [{ id, size_bytes: sizeBytes, encoding, body, refs: 1 }])
  return id
}

function count(mailhorn: Pick<Mailhorn, 'rows' | 'change'>, accountId: Id): void {
  const where = "where account_id = ? and kind = 'inbound' and period = ''"
  if (mailhorn.rows(`select 1 from counters ${where}`, accountId).length === 0)
    insertRows(mailhorn, 'counters', [{ account_id: accountId, kind: 'inbound', period: '', count: 0 }])
  mailhorn.change(`update counters set count = count + 1 ${where}`, accountId)
}
