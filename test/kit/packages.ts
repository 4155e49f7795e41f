/** The packages that `npm run package` makes. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'

const script = fileURLToPath(new URL('../../scripts/package.ts', import.meta.url))

/** Makes all packages in a new folder, which the caller removes. @returns path of the folder */
export function makePackages(): string {
  const folder = mkdtempSync(join(tmpdir(), 'packages-'))
  const { status, stderr } = spawnSync(process.execPath, [script, '--out', folder], { encoding: 'utf8' })
  assert.is(status, 0, stderr)
  return folder
}
