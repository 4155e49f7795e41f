/** A reader process that is killed when it reads the first time, and reads the second time. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveProcess } from '../../../../../src/lib/serve-process.ts'

serveProcess<{ location: { blobFolder: string } }>(({ location }) => ({
  async readBody() {
    const mark = join(location.blobFolder, '..', 'read-once')
    if (existsSync(mark)) return { body: { read: true }, isSend: false }
    writeFileSync(mark, '')
    process.kill(process.pid, 'SIGKILL')
    return undefined
  },
}))
