/** Serves the size of the disk and of the database to operators, their growth and the days left. */
import * as z from 'zod'
import { requireOperator } from '../auth/operator.ts'
import { ok, type Route } from '../route/route.ts'
import { timeSchema } from '../schema/reply-schemas.ts'

const size = z.int().nullable().meta({ description: 'In bytes; null if it cannot be read.' })

const storageSchema = z
  .object({
    object: z.literal('storage'),
    data_dir: z.string(),
    disk: z.object({ free_bytes: size, size_bytes: size }),
    database: z.object({ engine: z.enum(['sqlite', 'postgres']), bytes: size, wal_bytes: size }),
    growth: z
      .object({
        since: timeSchema,
        disk_bytes_per_day: z.int(),
        database_bytes_per_day: z.int(),
        days_left: z.int().nullable().meta({ description: 'Null while the use of the disk does not grow.' }),
      })
      .nullable()
      .meta({ description: 'Null during the first day.' }),
  })
  .meta({ id: 'Storage' })

export type StorageView = z.output<typeof storageSchema>

export function storageRoutes({ view }: { view(): Promise<StorageView> }): Route[] {
  return [
    {
      method: 'GET',
      path: '/installation/storage',
      access: 'session',
      scopes: ['operator'],
      summary: 'Retrieve the size of disk and database, their growth and the days left (operator)',
      replies: { 200: storageSchema },
      async handle(request) {
        requireOperator(request)
        return ok(await view())
      },
    },
  ]
}
