/** Where large attachments lie: beside SQLite in files, in PostgreSQL as pieces; drafts are files with either. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isOnPostgres } from './database.ts'
import type { Posthorn } from './posthorn.ts'

type Place = Pick<Posthorn, 'dataDir' | 'rows' | 'change'>

/** Names of all that are kept, each once, and of drafts. */
export function largeBlobs(posthorn: Pick<Place, 'dataDir' | 'rows'>): string[] {
  const files = filesIn(blobFolder(posthorn))
  if (!isOnPostgres) return files
  const blobs = posthorn.rows<{ hash: Buffer }>('select hash from blob_pieces where number = 0 order by hash')
  return [...blobs.map(({ hash }) => hash.toString('hex')), ...files]
}

/** As when a disk or a hand has taken them away. */
export function loseLargeBlobs(posthorn: Place): void {
  if (isOnPostgres) posthorn.change('delete from blob_pieces')
  for (const entry of readdirSync(blobFolder(posthorn)))
    rmSync(join(blobFolder(posthorn), entry), { recursive: true })
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
