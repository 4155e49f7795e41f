/** Small files of JSON that remember facts over restarts, where the database cannot hold them. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { ZodType } from 'zod'

/** @returns undefined when the file is missing or damaged: the next write replaces it */
export function readJsonFile<T>(path: string, schema: ZodType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

/**
 * Replaces the file as a whole, so that readers find the former value or this one.
 * @throws when its folder cannot be written
 */
export function replaceJsonFile(path: string, value: unknown): void {
  const fresh = `${path}.${process.pid}.new`
  writeFileSync(fresh, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(fresh, path)
}
