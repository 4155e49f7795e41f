/** Common parts of reply schemas. */
import * as z from 'zod'
import type { IdPrefix } from '../../../lib/ids.ts'

const UUID_V7 = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'

/** @param prefixes several for a field that has ids of different objects */
export function idSchema(...prefixes: IdPrefix[]) {
  const [only, ...others] = prefixes
  const prefix = others.length === 0 ? only : `(${prefixes.join('|')})`
  return z.string().regex(new RegExp(`^${prefix}_${UUID_V7}$`))
}

/** Time in the format of `timestamp()`. */
export const timeSchema = z.iso.datetime({ precision: 3 }).meta({
  id: 'Time',
  description: 'ISO 8601 time in UTC with milliseconds',
  example: '2026-08-05T11:52:01.000Z',
})

/** Page of a list. */
export function listSchema<S extends z.ZodType>(row: S) {
  return z.object({
    object: z.literal('list'),
    total: z.int().min(0),
    has_more: z.boolean(),
    data: z.array(row),
  })
}

export function deletedSchema<S extends string>(object: S, prefix: IdPrefix) {
  return z.object({ object: z.literal(object), id: idSchema(prefix), deleted: z.literal(true) })
}
