/** Every route of the API, read from its own tables, so that a new one cannot escape the tests over all of them. */
import { readdirSync } from 'node:fs'
import type { Route } from '../../src/http/route.ts'

const folder = new URL('../../src/http/routes/', import.meta.url)

/** Stands for any part a route table is built from; nothing is called while the tables are made. */
const anything: unknown = new Proxy(() => anything, { get: () => anything })

export async function allRoutes(): Promise<Route[]> {
  const routes: Route[] = []
  for (const file of readdirSync(folder).sort()) {
    const module = (await import(new URL(file, folder).href)) as Record<string, unknown>
    for (const [name, make] of Object.entries(module))
      if (name.endsWith('Routes')) routes.push(...(make as (parts: unknown) => Route[])(anything))
  }
  return routes
}

/** The path with a well-formed id that nothing has in place of each parameter, and the first version. */
export function pathOf({ path }: Route, id = '01990000-0000-7000-8000-000000000000'): string {
  return path.replace(':version', '1').replace(/:[a-z_]+/g, id)
}
