/** Serves the settings in force to operators. Secrets are not shown. */
import * as z from 'zod'
import { requireOperator } from '../auth/operator.ts'
import { ok, type Route } from '../route/route.ts'

export const settingSchema = z
  .object({
    key: z.string().meta({ description: 'Key in files, such as `http.listen`.' }),
    value: z.string().nullable().meta({
      description: 'Value in force, `[redacted]` for a secret that is set; null if it is empty or off.',
    }),
    source: z.enum(['default', 'file', 'environment']),
    source_name: z
      .string()
      .nullable()
      .meta({ description: 'Path of the file, or name of the environment variable; null for a default.' }),
    description: z.string(),
    unit: z.string().nullable(),
    secret: z.boolean(),
  })
  .meta({ id: 'Setting' })

export type SettingView = z.output<typeof settingSchema>

/** @param settings those that this process has read at its start */
export function settingsRoutes({ settings }: { settings: readonly SettingView[] }): Route[] {
  return [
    {
      method: 'GET',
      path: '/installation/settings',
      access: 'session',
      scopes: ['operator'],
      summary: 'List the settings in force and where each came from, without secrets (operator)',
      replies: { 200: z.object({ object: z.literal('list'), data: z.array(settingSchema) }) },
      async handle(request) {
        requireOperator(request)
        return ok({ object: 'list', data: settings })
      },
    },
  ]
}
