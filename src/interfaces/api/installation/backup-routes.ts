/** Serves the scheduled backups to operators: lists them, makes one at once, and checks one. */
import * as z from 'zod'
import { backupNames } from '../../../store/backup/layout.ts'
import { invalidField } from '../api-error.ts'
import { requireOperator } from '../auth/operator.ts'
import { ok, type Route } from '../route/route.ts'
import { bodyReader } from '../schema/read.ts'
import { timeSchema } from '../schema/reply-schemas.ts'

const failureSchema = z.object({ at: timeSchema, reason: z.string() })

const backupsSchema = z
  .object({
    object: z.literal('backups'),
    folder: z
      .string()
      .nullable()
      .meta({ description: 'Place of scheduled backups; null if none are scheduled.' }),
    every_hours: z.int(),
    keep: z.int().meta({ description: 'Number of backups that stay.' }),
    running: z.boolean(),
    next_at: timeSchema.nullable(),
    last: z
      .object({ folder: z.string(), at: timeSchema })
      .nullable()
      .meta({ description: 'The last backup to any place, also by `mailhorn backup`.' }),
    failure: failureSchema.nullable().meta({ description: 'Failure of the last scheduled backup.' }),
    verification: z
      .object({
        name: z.string(),
        started_at: timeSchema,
        finished_at: timeSchema.nullable(),
        faults: z.array(z.string()).nullable().meta({ description: 'Null while the check goes on.' }),
      })
      .nullable()
      .meta({ description: 'The last check of a backup since the start of the service.' }),
    data: z
      .array(
        z.object({
          name: z.string(),
          created_at: timeSchema,
          version: z.string().nullable(),
          database_bytes: z.int().nullable(),
          files: z.object({ count: z.int(), bytes: z.int() }).nullable(),
          secret_key: z.boolean().nullable(),
          error: z.string().nullable(),
        }),
      )
      .nullable()
      .meta({ description: 'The newest 100, newest first; null if the place cannot be read.' }),
    error: z.string().nullable().meta({ description: 'Why the place cannot be read.' }),
  })
  .meta({ id: 'Backups' })

export type BackupsView = z.output<typeof backupsSchema>

const verifyBody = z.object({ name: z.string().max(100) })
const readVerify = bodyReader(verifyBody)
const startedSchema = (object: string) =>
  z.object({
    object: z.literal(object),
    started: z.boolean(),
    reason: z.string().nullable().meta({ description: 'Why nothing was started.' }),
  })

interface BackupRoutesOptions {
  view(): Promise<BackupsView>
  /** Undefined without a place of scheduled backups. Both return false while another is in progress. */
  tasks: { run(): boolean; verify(name: string): boolean } | undefined
}

const NO_PLACE = 'No place of backups is configured: `backup.folder` is off.'

export function backupRoutes({ view, tasks }: BackupRoutesOptions): Route[] {
  const started = (object: string, start: (of: NonNullable<typeof tasks>) => boolean, busy: string) => {
    const reason = tasks ? (start(tasks) ? null : busy) : NO_PLACE
    return ok({ object, started: reason === null, reason })
  }
  return [
    {
      method: 'GET',
      path: '/installation/backups',
      access: 'session',
      scopes: ['operator'],
      summary: 'List the backups, and when the next one is made (operator)',
      replies: { 200: backupsSchema },
      async handle(request) {
        requireOperator(request)
        return ok(await view())
      },
    },
    {
      method: 'POST',
      path: '/installation/backups/run',
      access: 'session',
      scopes: ['operator'],
      whileReadOnly: true,
      summary: 'Make a backup now, to the place of scheduled backups (operator)',
      replies: { 200: startedSchema('backup_run') },
      async handle(request) {
        requireOperator(request)
        return started('backup_run', ({ run }) => run(), 'A backup is already being made.')
      },
    },
    {
      method: 'POST',
      path: '/installation/backups/verify',
      access: 'session',
      scopes: ['operator'],
      whileReadOnly: true,
      summary: 'Check a backup: hashes, database, schema and files; the result is in the list (operator)',
      body: verifyBody,
      replies: { 200: startedSchema('backup_verification') },
      async handle(request) {
        requireOperator(request)
        const { name } = readVerify(await request.body())
        if (backupNames([name]).length === 0)
          throw invalidField('name', '`name` must be the name of a backup, such as 20261128T030000Z.')
        return started('backup_verification', ({ verify }) => verify(name), 'A check is already in progress.')
      },
    },
  ]
}
