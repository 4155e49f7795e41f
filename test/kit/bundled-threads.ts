/**
 * Loaded by the runner before a test file and its worker threads: a thread of the service is started from the one file
 * that `scripts/bundle-threads.ts` has made of its modules. Programs that tests start run the sources.
 */
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

export const THREADS = fileURLToPath(new URL('../../node_modules/.cache/threads', import.meta.url))

/** @param name of its entry, `writer-thread` */
export function bundleOf(name: string): string {
  return join(THREADS, `${name}.mjs`)
}

const ENTRY = /\/src\/([a-z]+-thread)\.ts$/

if (!isMainThread)
  registerHooks({
    resolve(specifier, context, next) {
      const name = context.parentURL === undefined && ENTRY.exec(specifier)?.[1]
      if (!name || !existsSync(bundleOf(name))) return next(specifier, context)
      return { url: pathToFileURL(bundleOf(name)).href, format: 'module', shortCircuit: true }
    },
  })
