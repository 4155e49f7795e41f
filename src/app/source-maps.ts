/** What each file that `scripts/build-service.js` makes begins with. */
import { fileURLToPath } from 'node:url'
import { traceSources } from '../lib/source-traces.ts'

traceSources(fileURLToPath(new URL('../..', import.meta.url)))
