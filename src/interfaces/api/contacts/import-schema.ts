/** Schemas of contact imports. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import type { OnExisting } from '../../../resources/contacts/import/commands.ts'
import type { RowError, RowNote } from '../../../resources/contacts/import/row.ts'
import type { ContactImportRow } from '../../../store/schema.ts'
import { ApiError, compressedBody, invalidField } from '../api-error.ts'
import type { ApiRequest } from '../route.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

export const CSV = 'text/csv'
const STATES = ['running', 'done', 'interrupted', 'failed'] as const

export const importQuery = {
  on_existing: z
    .enum(['update', 'skip'])
    .default('update')
    .meta({ description: 'Whether existing contacts are updated or skipped.' }),
}

export const importSchema = z
  .object({
    object: z.literal('contact_import'),
    id: idSchema('imp'),
    audience_id: idSchema('aud'),
    status: z.enum(STATES),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Reason why the import ended before the end of the file.' }),
    rows: z.int().meta({ description: 'Number of rows read: the sum of the following.' }),
    created: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    skipped: z.int(),
    failed: z.int(),
    errors: z
      .array(z.object({ row: z.int(), email: z.string().nullable(), message: z.string() }))
      .meta({ description: 'Errors of the first 100 failed rows; the header is row 1.' }),
    notes: z.array(z.object({ row: z.int(), email: z.string().nullable(), message: z.string() })).meta({
      description: 'Changes that were needed to import a row, such as a replaced line break; the first 100.',
    }),
    created_at: timeSchema,
    updated_at: timeSchema,
    ended_at: timeSchema.nullable(),
  })
  .meta({ id: 'ContactImport' })

/** @throws ApiError 422 */
export function readOnExisting(query: URLSearchParams): OnExisting {
  const text = query.get('on_existing') ?? 'update'
  if (text === 'update' || text === 'skip') return text
  throw invalidField(
    'on_existing',
    `The \`on_existing\` parameter must be \`update\` or \`skip\`; got ${shownValue(text)}.`,
  )
}

/**
 * Returns the charset that the content type names, if any.
 * @throws ApiError 415
 */
export function insistOnCsv({ headers }: Pick<ApiRequest, 'headers'>): string | undefined {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map(part => part.trim())
  if (type.toLowerCase() !== CSV)
    throw new ApiError(415, 'validation_error', `The request body must be CSV (Content-Type: ${CSV}).`)
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw compressedBody()
  return parameters.map(parameter => /^charset="?([^"]+)"?$/i.exec(parameter)?.[1]).find(name => name)
}

export function importView(row: ContactImportRow): z.output<typeof importSchema> {
  const entries = JSON.parse(row.errors) as (RowError | RowNote)[]
  return {
    object: 'contact_import',
    id: wireId('imp', row.id),
    audience_id: wireId('aud', row.audienceId),
    status: row.state,
    error: row.fault,
    rows: row.rowCount,
    created: row.createdCount,
    updated: row.updatedCount,
    unchanged: row.unchangedCount,
    skipped: row.skippedCount,
    failed: row.failedCount,
    errors: entries.filter(entry => !('imported' in entry)),
    notes: entries
      .filter(entry => 'imported' in entry)
      .map(({ row, email, message }) => ({ row, email, message })),
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
    ended_at: timestamp(row.endedAt),
  }
}
