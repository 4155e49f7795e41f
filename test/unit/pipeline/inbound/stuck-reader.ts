/** A reader process that reads for ever. */
import { serveProcess } from '../../../../src/lib/serve-process.ts'

serveProcess(() => ({ readMail: () => new Promise(() => {}) }))
