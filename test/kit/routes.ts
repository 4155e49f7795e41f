/**
 * Every route of the API, read from its own tables, so that a new one cannot escape the tests over all of
 * them.
 */
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Route } from '../../src/interfaces/api/route/route.ts'
import { namingUnapplied } from '../../src/interfaces/api/route/unapplied-fields.ts'

const folder = new URL('../../src/interfaces/api/', import.meta.url)

/** Stands for any part a route table is built from; nothing is called while the tables are made. */
const anything: unknown = new Proxy(() => anything, { get: () => anything })

export async function allRoutes(): Promise<Route[]> {
  const routes: Route[] = []
  for (const file of globSync('*/*routes.ts', { cwd: fileURLToPath(folder) }).sort()) {
    const module = (await import(new URL(file, folder).href)) as Record<string, unknown>
    for (const [name, make] of Object.entries(module))
      if (name.endsWith('Routes')) routes.push(...(make as (parts: unknown) => Route[])(anything))
  }
  return routes.map(namingUnapplied)
}

/** The path with a well-formed id that nothing has in place of each parameter, and the first version. */
export function pathOf({ path }: Route, id = '01990000-0000-7000-8000-000000000000'): string {
  return path.replace(':version', '1').replace(/:[a-z_]+/g, id)
}

/** The route that answers a request; undefined where none does. */
export function routeAt(routes: readonly Route[], method: string, target: string): Route | undefined {
  const parts = partsOf(target.split(/[?#]/, 1)[0]!)
  const found = routes.filter(route => route.method === method && fits(patternOf(route), parts))
  return found.find(({ path }) => !path.includes(':')) ?? found[0]
}

const patterns = new Map<string, readonly string[]>()

/** Returns the parts of a route's path, which every call of a test is compared with. */
function patternOf({ path }: Route): readonly string[] {
  const known = patterns.get(path)
  if (known) return known
  const parts = partsOf(path)
  patterns.set(path, parts)
  return parts
}

/** Slashes too many count for nothing. */
function partsOf(path: string): string[] {
  return path.split('/').filter(part => part !== '')
}

function fits(pattern: readonly string[], parts: readonly string[]): boolean {
  return (
    pattern.length === parts.length && pattern.every((part, i) => part.startsWith(':') || part === parts[i])
  )
}
