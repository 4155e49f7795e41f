/**
 * Writes the examples of the OpenAPI document, which are made against a service in this process, and the list
 * of operations: `npm run openapi`.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { operationIdOf } from '../src/interfaces/api/openapi/operation-ids.ts'
import { recordExamples } from '../test/kit/openapi-examples.ts'
import { allRoutes } from '../test/kit/routes.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const routes = await allRoutes()
const operations = routes.map(route => `${operationIdOf(route, routes)} ${route.method} ${route.path}`).sort()

writeFileSync(`${root}test/golden/openapi/operations.txt`, `${operations.join('\n')}\n`)
writeFileSync(
  `${root}src/interfaces/api/openapi/examples.json`,
  `${JSON.stringify(await recordExamples(), null, 2)}\n`,
)
