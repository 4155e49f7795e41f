/**
 * Stores a received mail for all its local recipients (reports and accounts) in one transaction. Called by
 * `app/inbound.ts`.
 */
import { idKey } from '../../lib/ids.ts'
import type { NewInbound } from '../../resources/emails/inbound-rows.ts'
import { inboundCommands } from '../../resources/emails/inbound-rows.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'
import { batchCommand, concurrent } from '../../store/model/command.ts'
import { type NewReport, reportCommands } from './report-rows.ts'

export interface ReceivedMail {
  reports: readonly NewReport[]
  messages: readonly NewInbound[]
  /** Envelope sender; empty for the null sender. */
  sender: string
  clientIp: string
  /** EHLO or HELO argument of the client. */
  helo: string | null
  /** TLS version such as `TLSv1.3`; null for a plain-text connection. */
  tls: string | null
  sizeBytes: number
  /** The whole message, or the beginning of mail that is only a report. */
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
