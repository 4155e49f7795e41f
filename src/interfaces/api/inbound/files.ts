/** Opens the source and the attachments of received messages. */

import { idText } from '../../../lib/ids.ts'
import { findInbound, type ShownInbound } from '../../../pipeline/inbound/find-inbound.ts'
import { openPart } from '../../../pipeline/inbound/part-bytes.ts'
import { fullContentType, type StoredPart } from '../../../pipeline/inbound/stored-content.ts'
import { type TracedInbound, traceText } from '../../../pipeline/inbound/trace-fields.ts'
import { streamWithOwnFields } from '../../../pipeline/inbound/verdicts/strip-auth-results.ts'
import { storedParts } from '../../../pipeline/inbound/view.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { findAttachment } from '../downloads/attachment-page.ts'
import type { DownloadedFile } from '../downloads/link.ts'
import type { FileRef } from '../downloads/token.ts'

export interface InboundFiles {
  /** Opens the source of a message, with the trace fields of this service added at its top. */
  message(row: TracedInbound & Pick<ShownInbound, 'rawHash'>): Promise<DownloadedFile>
  part(row: Pick<ShownInbound, 'rawHash'>, part: StoredPart): Promise<DownloadedFile>
  /**
   * Opens the file of a download link. Returns undefined if it does not exist or is outside the retention
   * window.
   */
  open(file: FileRef): Promise<DownloadedFile | undefined>
}

interface InboundFilesOptions {
  store: { db: Db; find: Find; blobs: BlobFiles }
  horizonOf: Plans['horizonOf']
  mailHost: string
}

export function createInboundFiles({ store, horizonOf, mailHost }: InboundFilesOptions): InboundFiles {
  const files: InboundFiles = {
    async message(row) {
      const { content } = await store.blobs.open(store.db, row.rawHash)
      return {
        filename: `${idText(row.id)}.eml`,
        contentType: 'message/rfc822',
        content: streamWithOwnFields(content, mailHost, traceText(row, mailHost)),
      }
    },
    async part({ rawHash }, part) {
      const { filename, sizeBytes } = part
      const contentType = fullContentType(part)
      return { filename, contentType, sizeBytes, content: await openPart(store, rawHash, part) }
    },
    async open({ accountId, ownerId, fileId, kind }) {
      const sight = { accountId, horizon: await horizonOf(accountId), domain: null }
      const row = await findInbound(store.find, sight, ownerId)
      if (!row) return undefined
      if (kind === 'inbound-message') return files.message(row)
      const part = findAttachment(storedParts(row), fileId)
      return part && files.part(row, part)
    },
  }
  return files
}
