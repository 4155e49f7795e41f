/** Stores a mail behind all the doors that it was sent to, in one transaction. */
import { idKey } from '../../lib/ids.ts'
import type { NewInbound } from '../../resources/emails/inbound-rows.ts'
import { inboundCommands } from '../../resources/emails/inbound-rows.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'
import { batchCommand, concurrent } from '../../store/command.ts'
import { type NewReport, reportCommands } from './report-rows.ts'

export interface ReceivedMail {
  reports: readonly NewReport[]
  messages: readonly NewInbound[]
  /** Of the envelope; empty for the null sender. */
  sender: string
  clientIp: string
  /** What the client called itself. */
  helo: string | null
  /** Such as `TLSv1.3`; null for plain text. */
  tls: string | null
  sizeBytes: number
  /** All of it; of mail that is nothing but a report its beginning. */
  blob: StagedBlob
  at: number
}

export const receiveCommands = {
  receiveMail: concurrent(
    batchCommand<ReceivedMail, void>(async (tx, mails) => {
      await reportCommands.storeReports.run(
        tx,
        mails
          .filter(({ reports }) => reports.length > 0)
          .map(({ reports, sender, clientIp, sizeBytes, blob, at }) => ({
            ...{ reports, sender, clientIp, sizeBytes, blob, at },
          })),
      )
      await inboundCommands.storeInbound.run(
        tx,
        mails
          .filter(({ messages }) => messages.length > 0)
          .map(({ reports: _, ...mail }) => ({ ...mail, source: null })),
      )
      return mails.map(() => undefined)
    }),
    ({ blob }) => [`blob ${idKey(blob.hash)}`],
  ),
}
