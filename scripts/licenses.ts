/**
 * Collects the licenses of the modules that are part of a package. Run by `npm pack`, it writes them to
 * `THIRD-PARTY-LICENSES`.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

if (import.meta.main) writeFileSync(join(root, 'THIRD-PARTY-LICENSES'), licensesOf(root))

/** @returns the licenses of all dependencies that the service is built from, and of the runtime */
export function licensesOf(folder: string): string {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>
  }
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true && existsSync(join(folder, path)))
    .flatMap(([path]) =>
      readdirSync(join(folder, path))
        .filter(file => /^(?:licen[cs]e|copying|notice)(?:[-.]|$)/i.test(file))
        .map(
          file => `${'='.repeat(78)}\n${path}\n\n${readFileSync(join(folder, path, file), 'utf8').trim()}\n`,
        ),
    )
    .join('\n')
}
