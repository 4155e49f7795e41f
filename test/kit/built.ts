/**
 * Replaces sources with the files that `scripts/build-service.js` built before the tests. It is loaded before
 * a test file and before its worker threads, so that a worker of the service starts from its one built file,
 * as it does for users.
 */
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

const BUILD = fileURLToPath(new URL('../../build', import.meta.url))
const ENTRY = /\/src\/workers\/([a-z]+)\.ts$/

/** @param name of an entry in `src`, `main` */
export function builtFile(name: string): string {
  return join(BUILD, `${name}.js`)
}

/** A test file is no entry of the service; a worker thread or child process that it starts may be one. */
if (!isMainThread || ENTRY.test(process.argv[1] ?? ''))
  registerHooks({
    resolve(specifier, context, next) {
      const name = context.parentURL === undefined && ENTRY.exec(specifier)?.[1]
      if (!name || !existsSync(builtFile(name))) return next(specifier, context)
      return { url: pathToFileURL(builtFile(name)).href, format: 'module', shortCircuit: true }
    },
  })
