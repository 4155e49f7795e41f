/** The version after this one: a copy of the built program whose schema has one more migration. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { builtFile } from './built.ts'
import type { TestContext } from './suite.ts'

const root = join(import.meta.dirname, '../..')
export const NEXT_MIGRATION = '997-next-version'
const ONE_MORE = `,
  { name: "${NEXT_MIGRATION}", up: async (db) => void (await db.schema.createTable("of_next_version").addColumn("id", "integer").execute()) }`

export interface NextVersion {
  /** Entry of the service. */
  entry: string
  /** The operator's program. */
  program: string
}

export function nextVersion(t: TestContext): NextVersion {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-next-'))
  t.after(() => rmSync(folder, { recursive: true }))
  cpSync(dirname(builtFile('main')), join(folder, 'build'), { recursive: true })
  for (const name of ['config', 'dist', 'node_modules', 'package.json'])
    symlinkSync(join(root, name), join(folder, name))
  mkdirSync(join(folder, 'bin'))
  cpSync(join(root, 'bin/mailhorn'), join(folder, 'bin/mailhorn'))
  for (const name of ['main', 'writer', 'cli']) addMigration(join(folder, 'build', `${name}.js`))
  return { entry: join(folder, 'build/main.js'), program: join(folder, 'bin/mailhorn') }
}

function addMigration(file: string) {
  const built = readFileSync(file, 'utf8')
  const changed = built.replace(/(var migrations = \[[^\]]*?)(\n\];)/, `$1${ONE_MORE}$2`)
  if (changed === built) throw new Error(`${file} lists no migrations`)
  writeFileSync(file, changed)
}
