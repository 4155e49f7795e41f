/**
 * Kills a real program at a moment that stands in the URL of this module, which is loaded before the program:
 * as soon as it logs the `event`, or `before` or `after` the renaming of a database with the number `rename`.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const moment = new URL(import.meta.url).searchParams
const event = moment.get('event')
const kill = () => process.kill(process.pid, 'SIGKILL')

if (isMainThread) {
  const { writeSync, promises } = fs
  const { rename } = promises
  let renames = 0
  if (event !== null)
    fs.writeSync = ((...args: Parameters<typeof writeSync>) => {
      const written = writeSync(...args)
      if (Buffer.from(args[1] as unknown as Uint8Array).includes(`"event":"${event}"`)) kill()
      return written
    }) as typeof writeSync
  promises.rename = async (from, to) => {
    const isMoment = `${to}`.endsWith('.db') && ++renames === Number(moment.get('rename'))
    if (isMoment && moment.get('when') === 'before') kill()
    await rename(from, to)
    if (isMoment) kill()
  }
  syncBuiltinESMExports()
}
