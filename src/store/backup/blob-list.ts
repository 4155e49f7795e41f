/**
 * The list of a backup's files, in the form that `sha256sum --check` reads from the folder of all backups,
 * sorted by name.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { BackupFault } from './backup-fault.ts'
import { POOL_FOLDER } from './layout.ts'

const LINE = /^([0-9a-f]{64}) {2}blobs\/[0-9a-f]{2}\/([0-9a-f]{64})$/
const LINES_PER_PIECE = 1_000

/** Formats the list in pieces of many lines. */
export async function* blobListPieces(
  blobs: Iterable<{ name: string }> | AsyncIterable<{ name: string }>,
): AsyncGenerator<string> {
  let lines: string[] = []
  for await (const { name } of blobs) {
    lines.push(`${name}  ${POOL_FOLDER}/${name.slice(0, 2)}/${name}\n`)
    if (lines.length < LINES_PER_PIECE) continue
    yield lines.join('')
    lines = []
  }
  if (lines.length > 0) yield lines.join('')
}

/**
 * @param shown path or URL of the list, for messages
 * @returns the names of the files
 * @throws BackupFault when a line is damaged
 */
export async function* readBlobList(path: string, shown = path): AsyncGenerator<string> {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const [, hash, name] = LINE.exec(line) ?? []
    if (name === undefined || name !== hash) throw new BackupFault(`${shown} is damaged`)
    yield name
  }
}
