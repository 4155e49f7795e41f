/**
 * First module of each file that `scripts/build-service.js` creates: installs the mapping of stack traces.
 */
import { fileURLToPath } from 'node:url'
import { traceSources } from '../lib/source-traces.ts'

traceSources(fileURLToPath(new URL('../..', import.meta.url)))
