/** Version of the program, and its changelog. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

export const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }

/** @returns undefined if the changelog was removed from the installation */
export async function readChangelog(): Promise<string | undefined> {
  try {
    return await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
