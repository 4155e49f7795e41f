/** A reader process that dies of its first question: by itself, or since somebody else kills it. */
import { serveProcess } from '../../../../../src/lib/serve-process.ts'

serveProcess(() => ({
  readBody: async ({ work }: { work: unknown }) =>
    work === null ? process.kill(process.pid, 'SIGKILL') : process.exit(134),
}))
