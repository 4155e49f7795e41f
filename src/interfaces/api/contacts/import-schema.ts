/** Schemas of contact imports. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { lineText } from '../../../lib/line-text.ts'
import {
  answeredValue,
  type ColumnMeaning,
  type ColumnMeanings,
  type ColumnUses,
} from '../../../resources/contacts/import/column-meanings.ts'
import type { OnExisting } from '../../../resources/contacts/import/commands.ts'
import type { FileLook } from '../../../resources/contacts/import/look.ts'
import type { RowError, RowNote } from '../../../resources/contacts/import/row.ts'
import { FILE_NAME_CHARACTERS_MAX } from '../../../resources/contacts/limits.ts'
import { FIELD_COLUMNS } from '../../../resources/contacts/properties.ts'
import type { ContactImportRow } from '../../../store/model/schema.ts'
import { ApiError, compressedBody, invalidField } from '../api-error.ts'
import type { ApiRequest } from '../route/route.ts'
import { brokenRule, shownValue, valueAt } from '../schema/broken-rule.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

export const CSV = 'text/csv'
const STATES = ['running', 'done', 'interrupted', 'failed'] as const

export const importQuery = {
  file_name: lineText(FILE_NAME_CHARACTERS_MAX)
    .optional()
    .meta({ description: 'Name of the file, which its contacts show as their source.' }),
  on_existing: z
    .enum(['update', 'skip'])
    .default('update')
    .meta({ description: 'Whether existing contacts are updated or skipped.' }),
  column_meanings: z
    .string()
    .optional()
    .meta({
      description:
        'JSON with answers to the `questions` of a former reply, by column: `property`, `ignore`, or an object that ' +
        'says of each value whether it is `unsubscribed` or `subscribed` (`*` for other values, an empty key for empty cells).',
    }),
  column_uses: z
    .string()
    .optional()
    .meta({
      description:
        'JSON with uses of columns in place of what their names say, by column: `email`, `first_name`, `last_name`, ' +
        '`unsubscribed`, `ignore`, or `{"property": "key"}`. A column that may say who has left is still asked about.',
    }),
}

/** @throws ApiError 422 */
export function readFileName(query: URLSearchParams): string | null {
  const text = query.get('file_name') ?? ''
  if (importQuery.file_name.safeParse(text).success) return text.toWellFormed() || null
  throw invalidField(
    'file_name',
    `The \`file_name\` parameter must be at most ${FILE_NAME_CHARACTERS_MAX} characters long, without control characters.`,
  )
}

const useSchema = z.union(
  [z.enum([...FIELD_COLUMNS, 'ignore']), z.strictObject({ property: z.string().trim() })],
  `must be \`${FIELD_COLUMNS.join('`, `')}\`, \`ignore\`, or an object with the key of a \`property\``,
)
const columnUsesSchema = z.record(z.string(), useSchema)

/**
 * Reads what columns are used as.
 * @param text JSON; undefined if the client gives none
 * @throws ApiError 422
 */
export function readColumnUses(text: string | null): ColumnUses {
  const uses = readJson('column_uses', text, columnUsesSchema) ?? {}
  return new Map(Object.entries(uses).map(([column, use]) => [column.trim(), use] as const))
}

const MEANING_VALUES_MAX = 1_000
const meaningSchema = z.union(
  [
    z.enum(['property', 'ignore']),
    z
      .record(z.string(), z.enum(['unsubscribed', 'subscribed']))
      .refine(values => Object.keys(values).length <= MEANING_VALUES_MAX),
  ],
  'must be `property`, `ignore`, or an object whose values are `unsubscribed` or `subscribed`',
)
const columnMeaningsSchema = z.record(z.string(), meaningSchema)

/**
 * Reads answers to questions about columns that may say who has left.
 * @param text JSON; undefined if the client gives none
 * @throws ApiError 422
 */
export function readColumnMeanings(text: string | null | undefined): ColumnMeanings {
  const meanings = readJson('column_meanings', text, columnMeaningsSchema) ?? {}
  return new Map(
    Object.entries(meanings).map(([column, meaning]) => [column.trim(), meaningOf(meaning)] as const),
  )
}

function meaningOf(meaning: z.output<typeof meaningSchema>): ColumnMeaning {
  if (typeof meaning === 'string') return meaning
  return new Map(
    Object.entries(meaning).map(
      ([value, choice]) => [answeredValue(value), choice === 'unsubscribed'] as const,
    ),
  )
}

/**
 * Reads JSON in a parameter or a field of a form. Returns undefined for an absent or null one.
 * @throws ApiError 422
 */
export function readJson<S extends z.ZodType>(
  name: string,
  text: string | null | undefined,
  schema: S,
): z.output<S> | undefined {
  if (text === undefined || text === null) return undefined
  const json = parsed(name, text)
  const result = schema.nullable().safeParse(json)
  if (result.success) return result.data ?? undefined
  const issue = result.error.issues[0]!
  throw invalidField(
    name,
    `\`${[name, ...issue.path].join('.')}\` ${brokenRule(issue, valueAt(json, issue.path))}.`,
  )
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw invalidField(name, `\`${name}\` must be valid JSON.`)
  }
}

export const importSchema = z
  .object({
    object: z.literal('contact_import'),
    id: idSchema('imp'),
    audience_id: idSchema('aud'),
    file_name: z.string().nullable(),
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
    errors: z.array(z.object({ row: z.int(), email: z.string().nullable(), message: z.string() })).meta({
      description: 'Errors of the first 100 failed rows; the header is row 1. They are kept for 90 days.',
    }),
    notes: z.array(z.object({ row: z.int(), email: z.string().nullable(), message: z.string() })).meta({
      description:
        'How many contacts were imported as unsubscribed, and changes that were needed to import a row, such as a replaced line break; the first 100.',
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
export function requireCsv({ headers }: Pick<ApiRequest, 'headers'>): string | undefined {
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
    file_name: row.fileName,
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

const COLUMN_USES = [...FIELD_COLUMNS, 'property', 'consent', 'ignore'] as const

export const lookSchema = z
  .object({
    object: z.literal('contact_import_preview'),
    columns: z.array(
      z.object({
        name: z.string(),
        use: z.enum(COLUMN_USES).meta({
          description:
            'What the column is by its name: a field, a property, or `consent` if it says who has left. `ignore`: it has no name.',
        }),
      }),
    ),
    rows: z
      .array(z.object({ row: z.int(), cells: z.array(z.string()) }))
      .meta({ description: 'The first rows after the header, at most 5. The header is row 1.' }),
  })
  .meta({ id: 'ContactImportPreview' })

export function lookView({ columns, rows }: FileLook): z.output<typeof lookSchema> {
  return {
    object: 'contact_import_preview',
    columns: columns.map(({ name, column }) => ({
      name,
      use: column.kind === 'field' ? column.field : column.kind === 'none' ? 'ignore' : column.kind,
    })),
    rows,
  }
}
