/** What is the same for all accounts: names, regions and the version. */
import { ok, type Route } from '../route.ts'
import { type InstallationView, installationSchema } from './schema.ts'

/** @param describe to be called once the door is open */
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
