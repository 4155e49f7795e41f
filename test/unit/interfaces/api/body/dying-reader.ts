/** A reader process that dies of its first question. */
import { serveProcess } from '../../../../../src/lib/serve-process.ts'

serveProcess(() => ({ readBody: async () => process.kill(process.pid, 'SIGKILL') }))
