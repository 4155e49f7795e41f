/** A reader process that dies of every message. */
import { serveProcess } from '../../../../src/lib/serve-process.ts'

serveProcess(() => ({ readMail: async () => process.kill(process.pid, 'SIGKILL') }))
