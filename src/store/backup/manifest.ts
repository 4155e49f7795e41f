/** The manifest of a backup: what belongs to it, with hashes. It is written last. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { S3Failure } from '../../protocols/s3/failure.ts'
import { BackupFault, faultOf } from './backup-fault.ts'
import { type BackupPlace, DATABASE_COPY, DATABASE_DUMP, MANIFEST_FILE } from './layout.ts'

const FORMAT = 1
/** Format of the backup of a PostgreSQL database, which versions that cannot restore it refuse. */
const DUMP_FORMAT = 2

const hashed = z.object({ bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) })

const schema = z.object({
  format: z.union([z.literal(FORMAT), z.literal(DUMP_FORMAT)]),
  created_at: z.iso.datetime(),
  /** Version of the program that made it. */
  version: z.string(),
  /** Schema of the database. */
  migrations: z.array(z.string()),
  database: hashed,
  /** Server that the database was dumped from; null when it is a SQLite file. */
  postgres: z.object({ version: z.string(), schema: z.string() }).nullable().default(null),
  /** The list of its files; the files themselves are beside all backups. */
  blob_list: hashed,
  blobs: z.object({ count: z.int().min(0), bytes: z.int().min(0) }),
  sealed_secret: hashed.nullable(),
  /** Files that the database names, and that were missing or damaged in the data folder. */
  lost_blobs: z.array(z.object({ name: z.string(), fault: z.enum(['missing', 'damaged']) })),
})

export type Manifest = z.output<typeof schema>

export function newManifest(parts: Omit<Manifest, 'format'>): string {
  const format = parts.postgres === null ? FORMAT : DUMP_FORMAT
  return `${JSON.stringify({ format, ...parts } satisfies Manifest, null, 2)}\n`
}

/** @returns name of the file that holds the database */
export function databaseNameIn({ postgres }: Manifest): string {
  return postgres === null ? DATABASE_COPY : DATABASE_DUMP
}

/** @throws BackupFault when it is damaged, or of a newer version */
export async function readManifest(place: BackupPlace): Promise<Manifest> {
  const path = `${place.path}/${MANIFEST_FILE}`
  let value: unknown
  try {
    value = JSON.parse(readFileSync(await place.file(MANIFEST_FILE), 'utf8'))
  } catch (error) {
    if (error instanceof S3Failure) throw faultOf(error, `${path} cannot be read`)
    throw new BackupFault(`${path} cannot be read: ${(error as Error).message}`, { cause: error })
  }
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const format = (value as { format?: unknown } | null)?.format
  throw new BackupFault(
    typeof format === 'number' && format > DUMP_FORMAT
      ? `${path} was written by a newer version; upgrade Mailhorn`
      : `${path} is damaged: ${read.error.issues[0]!.path.join('.')}: ${read.error.issues[0]!.message}`,
  )
}
