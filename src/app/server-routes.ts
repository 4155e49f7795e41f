/** Routes of the operator about the machine and the process, for the section Server of the dashboard. */
import { settingsRoutes } from '../interfaces/api/installation/settings-routes.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import type { AppContext } from './context.ts'

export function serverRoutesOf({ settings }: AppContext): Route[] {
  return settingsRoutes({
    settings: settings.map(({ sourceName: source_name, isSecret: secret, ...setting }) => ({
      ...setting,
      ...{ source_name, secret },
    })),
  })
}
