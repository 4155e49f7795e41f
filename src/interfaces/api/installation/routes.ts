/** Serves facts about the installation: host names, regions and the version. */
import { ok, type Route } from '../route/route.ts'
import { type InstallationView, installationSchema } from './schema.ts'

/** @param describe called per request, because some facts are known only after the listeners are open */
export function installationRoutes({ describe }: { describe(): Omit<InstallationView, 'object'> }): Route[] {
  return [
    {
      method: 'GET',
      path: '/installation',
      access: 'session',
      summary: 'Retrieve host names, regions and version of this installation',
      replies: { 200: installationSchema },
      handle: async () => ok({ object: 'installation', ...describe() }),
    },
  ]
}
