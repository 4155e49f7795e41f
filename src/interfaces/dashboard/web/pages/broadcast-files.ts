/**
 * Files of a broadcast. They are stored as soon as they are chosen or removed, together with the text,
 * because a browser keeps no files over a reload.
 */
import { useState } from 'preact/hooks'
import {
  ATTACHMENTS_MAX,
  BROADCAST_ATTACHMENTS_BYTES_MAX,
  ENCODED_OCTETS_PER_BYTE,
} from '../../../../pipeline/accept/message-limits.ts'
import { ApiError } from '../api/client.ts'
import { base64Of } from '../api/files.ts'
import type { Broadcast } from '../api/types.ts'
import { plainWords } from '../labels/faults.ts'
import { bytes, counted } from '../labels/numbers.ts'

/** An entry of a request: a new file, or one that stays. */
export type AttachmentEntry = { filename: string; content: string; content_type?: string } | { id: string }

/** Makes the list of a request from the one that is stored. */
export type Reattach = (stored: Broadcast['attachments']) => AttachmentEntry[]

export interface BroadcastFiles {
  fault: string | undefined
  add(files: readonly File[]): void
  remove(id: string): void
}

/** Bytes of files that fit, less what their names take. */
const BYTES_MAX = BROADCAST_ATTACHMENTS_BYTES_MAX / ENCODED_OCTETS_PER_BYTE
export const BROADCAST_FILES_LIMIT = `Up to ${counted(ATTACHMENTS_MAX, 'file')}, together ${Math.floor(BYTES_MAX / 100_000) / 10} MB: each recipient gets a copy.`

/** @param save stores the list and the text @throws ApiError */
export function useBroadcastFiles(
  attachments: Broadcast['attachments'],
  save: (reattach: Reattach) => Promise<void>,
): BroadcastFiles {
  const [fault, setFault] = useState<string>()
  const saving = async (reattach: Reattach) => {
    setFault(undefined)
    await save(reattach).catch(error => {
      if (!(error instanceof ApiError)) throw error
      setFault(error.of('attachments') ?? `The files were not changed: ${plainWords(error.message)}`)
    })
  }
  return {
    fault,
    async add(files) {
      const tooMuch = filesFault([...attachments.map(({ size }) => size), ...files.map(({ size }) => size)])
      if (tooMuch) return setFault(tooMuch)
      const added: AttachmentEntry[] = []
      for (const file of files) {
        const content = await base64Of(file).catch(() => undefined)
        if (content === undefined)
          return setFault(`“${file.name}” cannot be read. It may have been moved or changed: add it again.`)
        added.push({ filename: file.name, content, ...(file.type && { content_type: file.type }) })
      }
      if (added.length > 0) await saving(stored => [...stored.map(({ id }) => ({ id })), ...added])
    },
    remove: removed =>
      void saving(stored => stored.filter(({ id }) => id !== removed).map(({ id }) => ({ id }))),
  }
}

function filesFault(sizes: readonly number[]): string | undefined {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total > BYTES_MAX) return `The files are too large: ${bytes(total)} together. ${BROADCAST_FILES_LIMIT}`
  return sizes.length > ATTACHMENTS_MAX
    ? `There are ${sizes.length} files. ${BROADCAST_FILES_LIMIT}`
    : undefined
}
