/**
 * Finds and removes large attachments. With SQLite they are files, with PostgreSQL rows of `blob_pieces`;
 * drafts are files with both.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isOnPostgres } from './database.ts'
import type { Mailhorn } from './mailhorn.ts'

type Place = Pick<Mailhorn, 'dataDir' | 'rows' | 'change'>

/** Names of all that are kept, each once, and of drafts. */
export function largeBlobs(mailhorn: Pick<Place, 'dataDir' | 'rows'>): string[] {
  const files = filesIn(blobFolder(mailhorn))
  if (!isOnPostgres) return files
  const blobs = mailhorn.rows<{ hash: Buffer }>('select hash from blob_pieces where number = 0 order by hash')
  return [...blobs.map(({ hash }) => hash.toString('hex')), ...files]
}

/** Removes all large attachments, as a failed disk or an operator would. */
export function loseLargeBlobs(mailhorn: Place): void {
  if (isOnPostgres) mailhorn.change('delete from blob_pieces')
  for (const entry of readdirSync(blobFolder(mailhorn)))
    rmSync(join(blobFolder(mailhorn), entry), { recursive: true })
}

function blobFolder({ dataDir }: Pick<Place, 'dataDir'>): string {
  return join(dataDir, 'blobs')
}

function filesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    return entries.filter(entry => entry.isFile()).map(({ name }) => name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
