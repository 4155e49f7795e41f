/** Schemas of suppressions. */
import * as z from 'zod'
import { parseWireId, wireId } from '../../../lib/ids.ts'
import {
  foldAddress,
  isAddressPattern,
  parseAddress,
  searchedAddress,
} from '../../../protocols/smtp/address.ts'
import type { SuppressionFilter, SuppressionPage } from '../../../resources/suppressions/list.ts'
import { SUPPRESSION_REASONS, type SuppressionRef } from '../../../resources/suppressions/suppression-rows.ts'
import type { SuppressionReason, SuppressionRow } from '../../../store/model/schema.ts'
import { ApiError, invalidField } from '../api-error.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { bodyReader, readChoice } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const ADDRESSES_PER_BATCH_MAX = 100

const reasons = {
  reason: z.enum(SUPPRESSION_REASONS).optional(),
  origin: z.enum(SUPPRESSION_REASONS).optional(),
}
const batch = z.array(z.string()).max(ADDRESSES_PER_BATCH_MAX)
export const newSuppressionSchema = z.object({ email: z.string(), ...reasons })
export const newSuppressionsSchema = z.object({ emails: batch.min(1), ...reasons })
export const removalsSchema = z.object({ emails: batch.optional(), ids: batch.optional() })
const readOne = bodyReader(newSuppressionSchema, { emptyMeansAbsent: ['email', 'reason', 'origin'] })
const readMany = bodyReader(newSuppressionsSchema, { emptyMeansAbsent: ['reason', 'origin'] })
const readRefs = bodyReader(removalsSchema)

export const suppressionQuery = {
  ...reasons,
  q: z.string().optional().meta({ description: 'Substring of the address.' }),
  ...cursorPageQuery('sup'),
}

export const suppressionSchema = z
  .object({
    object: z.literal('suppression'),
    id: idSchema('sup'),
    email: z.string(),
    reason: z.enum(SUPPRESSION_REASONS),
    origin: z.enum(SUPPRESSION_REASONS),
    source_id: idSchema('eml').nullable(),
    created_at: timeSchema,
  })
  .meta({ id: 'Suppression' })

export const suppressionImportSchema = z
  .object({
    object: z.literal('suppression_import'),
    rows: z.int().meta({ description: 'Number of entries read: the sum of the following.' }),
    added: z.int(),
    existing: z
      .int()
      .meta({ description: 'Addresses that were suppressed already; their entries are kept.' }),
    failed: z.int(),
    errors: z
      .array(z.object({ row: z.int(), email: z.string().nullable(), message: z.string() }))
      .meta({ description: 'The first 100 failed entries. The header of a CSV file is row 1.' }),
  })
  .meta({ id: 'SuppressionImport' })

/** Result of a removal. `id` is the given text if nothing matched it. */
export const removalSchema = z.object({
  object: z.literal('suppression'),
  id: z.string(),
  deleted: z.boolean(),
})

interface WantedSuppressions {
  /** Folded addresses in the given order. */
  emails: string[]
  reason: SuppressionReason
}

/** @throws ApiError 422 */
export function readSuppression(body: unknown): WantedSuppressions {
  const { email, reason, origin } = readOne(body)
  return { emails: foldedAddresses([email], () => 'email'), reason: reasonOf(reason, origin) }
}

/**
 * Reads all addresses or none.
 *
 * @throws ApiError 422 that names every invalid address
 */
export function readSuppressions(body: unknown): WantedSuppressions {
  const { emails, reason, origin } = readMany(body)
  return { emails: foldedAddresses(emails, i => `emails[${i}]`), reason: reasonOf(reason, origin) }
}

/** @throws ApiError 422 */
function reasonOf(
  reason: SuppressionReason | undefined,
  origin: SuppressionReason | undefined,
): SuppressionReason {
  if (reason && origin && reason !== origin)
    throw invalidField('origin', '`origin` must equal `reason`, of which it is another spelling.')
  return reason ?? origin ?? 'manual'
}

/**
 * Reads the entries to remove, each as given and as a reference; the reference is undefined for a text that
 * is neither an id nor an address.
 * @throws ApiError 422
 */
export function readRemovals(body: unknown): { text: string; ref: SuppressionRef | undefined }[] {
  const { emails, ids } = readRefs(body)
  if (emails && ids) throw invalidField('ids', 'Set either `emails` or `ids`, not both.')
  const texts = emails ?? ids
  if (!texts) throw invalidField('emails', 'Missing `emails` or `ids` field.', 'missing_required_field')
  return texts.map(text => ({ text, ref: suppressionRef(text) }))
}

/** Reads an id or an address; returns undefined for anything else. */
export function suppressionRef(text: string): SuppressionRef | undefined {
  const id = parseWireId('sup', text)
  if (id) return { id }
  const parsed = parseAddress(text)
  return 'fault' in parsed ? undefined : { email: foldAddress(parsed.address) }
}

/** @throws ApiError 422 */
export function readSuppressionQuery(query: URLSearchParams): {
  filter: SuppressionFilter
  page: SuppressionPage
} {
  const reason = readChoice(query, query.has('origin') ? 'origin' : 'reason', SUPPRESSION_REASONS)
  return {
    filter: { reason: reason ?? null, search: readSearch(query) },
    page: readCursorPage(query, 'sup', 'a suppression'),
  }
}

/** Converts the search text to the stored form of addresses. */
function readSearch(query: URLSearchParams): string {
  const text = query.get('q') ?? ''
  if (text.includes('\0')) throw invalidField('q', 'The `q` parameter must not contain NUL.')
  return foldAddress(searchedAddress(text.normalize('NFC').trim()))
}

export function suppressionView(row: SuppressionRow): z.output<typeof suppressionSchema> {
  const { id, email, reason, sourceId, createdAt } = row
  return {
    object: 'suppression',
    id: wireId('sup', id),
    email,
    reason,
    origin: reason,
    source_id: sourceId && wireId('eml', sourceId),
    created_at: timestamp(createdAt),
  }
}

/** A domain alone is no address, either, and is refused with the same words. */
const NO_PATTERN = 'must be one address: a suppression takes no wildcards and does not cover a domain'

/** Parses an address that is to be suppressed. */
export function readSuppressed(text: string): ReturnType<typeof parseAddress> {
  const address = parseAddress(text)
  const isPattern = isAddressPattern('fault' in address ? text : address.address)
  return isPattern ? { fault: NO_PATTERN } : address
}

function foldedAddresses(texts: readonly string[], pathOf: (i: number) => string): string[] {
  const parsed = texts.map(readSuppressed)
  const errors = parsed.flatMap((address, i) =>
    'fault' in address
      ? [{ path: pathOf(i), message: `${shownValue(texts[i])} (\`${pathOf(i)}\`) ${address.fault}.` }]
      : [],
  )
  if (errors.length > 0) throw new ApiError(422, 'validation_error', errors[0]!.message, { errors })
  return parsed.flatMap(address => ('fault' in address ? [] : [foldAddress(address.address)]))
}
