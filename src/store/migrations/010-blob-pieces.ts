/**
 * Creates the table of large blobs in pieces, for a database that several machines share. With SQLite, large
 * blobs are files.
 */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { integer, bytes, clustered }: Columns): Promise<void> {
  await schema
    .createTable('blob_pieces')
    .addColumn('hash', bytes, c => c.notNull())
    .addColumn('number', integer, c => c.notNull())
    .addColumn('staged_at', integer, c => c.notNull())
    .addColumn('body', bytes, c => c.notNull())
    .addPrimaryKeyConstraint('blob_pieces_pk', ['hash', 'number'])
    .modifyEnd(clustered)
    .execute()
}
