/** Schemas of contact imports in the format of newer SDKs. */
import * as z from 'zod'
import { idKey, wireId } from '../../../lib/ids.ts'
import type { ColumnMeanings } from '../../../resources/contacts/import/column-meanings.ts'
import { COLUMN_TYPES, type ColumnMap } from '../../../resources/contacts/import/columns.ts'
import type { OnExisting } from '../../../resources/contacts/import/commands.ts'
import { KEYS_MAX, TOPICS_MAX } from '../../../resources/contacts/limits.ts'
import { FIELD_COLUMNS, type FieldColumn } from '../../../resources/contacts/properties.ts'
import type { TopicSubscription } from '../../../resources/contacts/topic-commands.ts'
import type { ContactImportRow, ImportState } from '../../../store/model/schema.ts'
import { invalidField } from '../api-error.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { readChoice } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'
import { readColumnMeanings, readJson } from './import-schema.ts'
import { type NamedAudience, namedAudience, subscriptionSchema, subscriptionsOf } from './schema.ts'

/** Text fields of the form by name. */
type FormFields = ReadonlyMap<string, string>

export const SDK_IMPORT_STATUSES = ['queued', 'in_progress', 'completed', 'failed'] as const
type SdkImportStatus = (typeof SDK_IMPORT_STATUSES)[number]

/**
 * Import states of our database by status of the SDKs. An import starts immediately, so none is ever queued.
 */
const STATES: Readonly<Record<SdkImportStatus, readonly ImportState[]>> = {
  queued: [],
  in_progress: ['running'],
  completed: ['done'],
  failed: ['interrupted', 'failed'],
}

export const sdkImportSchema = z.object({
  object: z.literal('contact_import'),
  id: idSchema('imp'),
  status: z.enum(SDK_IMPORT_STATUSES),
  created_at: timeSchema,
  completed_at: timeSchema.nullable(),
  counts: z.object({
    total: z.int(),
    created: z.int(),
    updated: z.int(),
    skipped: z.int().meta({ description: 'Existing contacts that were left unchanged.' }),
    failed: z.int(),
  }),
})

const columnSchema = z.string().trim().min(1)
const columnMapSchema = z.object({
  ...(Object.fromEntries(FIELD_COLUMNS.map(field => [field, columnSchema.nullish()])) as Record<
    FieldColumn,
    z.ZodOptional<z.ZodNullable<typeof columnSchema>>
  >),
  properties: z
    .record(z.string(), z.object({ column: columnSchema, type: z.enum(COLUMN_TYPES).default('string') }))
    .refine(
      properties => Object.keys(properties).length <= KEYS_MAX,
      `must contain at most ${KEYS_MAX} properties`,
    )
    .nullish(),
})
/** The file is read once for each audience. */
const SEGMENTS_MAX = 20
const segmentsSchema = z
  .array(z.object({ id: z.string() }))
  .max(SEGMENTS_MAX, `must contain at most ${SEGMENTS_MAX} segments`)
const topicsSchema = z.array(subscriptionSchema).max(TOPICS_MAX, `must contain at most ${TOPICS_MAX} topics`)

interface ImportForm {
  onExisting: OnExisting
  columnMap: ColumnMap | undefined
  meanings: ColumnMeanings
  /** Distinct audiences; an empty list if the form names no segment. */
  audiences: readonly NamedAudience[]
  subscriptions: readonly TopicSubscription[]
}

/** @throws ApiError 422 */
export function readImportForm(fields: FormFields): ImportForm {
  const map = readJson('column_map', fields.get('column_map'), columnMapSchema)
  const segments = readJson('segments', fields.get('segments'), segmentsSchema) ?? []
  const named = segments.map(({ id }, i) => namedAudience(`segments[${i}].id`, id))
  return {
    onExisting: onExistingOf(fields.get('on_conflict')),
    columnMap: map && mapOf(map),
    meanings: readColumnMeanings(fields.get('column_meanings')),
    audiences: [...new Map(named.map(one => [idKey(one.id), one])).values()],
    subscriptions: subscriptionsOf(readJson('topics', fields.get('topics'), topicsSchema) ?? []),
  }
}

function mapOf({ properties, ...columns }: z.output<typeof columnMapSchema>): ColumnMap {
  const fields = FIELD_COLUMNS.flatMap(field => (columns[field] ? [[field, columns[field]] as const] : []))
  return { fields: new Map(fields), properties: new Map(Object.entries(properties ?? {})) }
}

/** The SDKs document `skip` as the default, so that an import never overwrites contacts by mistake. */
function onExistingOf(text: string | undefined): OnExisting {
  if (text === undefined || text === 'skip') return 'skip'
  if (text === 'upsert') return 'update'
  throw invalidField(
    'on_conflict',
    `\`on_conflict\` must be \`upsert\` or \`skip\`; got ${shownValue(text)}.`,
  )
}

/**
 * Returns all states if the query names no status.
 * @throws ApiError 422
 */
export function readImportStates(query: URLSearchParams): readonly ImportState[] {
  const status = readChoice(query, 'status', SDK_IMPORT_STATUSES)
  return status ? STATES[status] : SDK_IMPORT_STATUSES.flatMap(one => STATES[one])
}

export function sdkImportView(row: ContactImportRow): z.output<typeof sdkImportSchema> {
  return {
    object: 'contact_import',
    id: wireId('imp', row.id),
    status: SDK_IMPORT_STATUSES.find(status => STATES[status].includes(row.state))!,
    created_at: timestamp(row.createdAt),
    completed_at: row.endedAt === null ? null : timestamp(row.endedAt),
    counts: {
      total: row.rowCount,
      created: row.createdCount,
      updated: row.updatedCount,
      skipped: row.skippedCount + row.unchangedCount,
      failed: row.failedCount,
    },
  }
}
