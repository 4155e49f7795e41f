/** Writes the documentation that is made from the source: `npm run docs`. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configurationPage } from '../src/config/page.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

writeFileSync(`${root}docs/configuration.md`, configurationPage(root))
