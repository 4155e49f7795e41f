/**
 * Installation secret in a file of the data folder that only its owner can read, used when the operator
 * configures none.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { SecretKeys } from '../lib/secret-keys.ts'
import { StartFault } from '../lib/start-fault.ts'
import { DRAFTS_FOLDER } from './blobs/drafts.ts'
import type { Run } from './command.ts'
import type { Db } from './schema.ts'
import { readSetting, type settingCommands } from './settings.ts'

/** Name of the file in the data folder. */
export const SECRET_FILE = 'secret.key'
const SECRET_BYTES = 32
const SECRET = /^[0-9a-f]{64}$/i

/** Whether an installation has used the folder: it contains the secret or stored files. */
export function hasBeenUsed(folder: string, blobFolder: string): boolean {
  if (existsSync(join(folder, SECRET_FILE))) return true
  return existsSync(blobFolder) && readdirSync(blobFolder).some(name => name !== DRAFTS_FOLDER)
}

/** Reads `secret.key`, or creates it. */
export function readOrCreateSecret(folder: string): Buffer {
  const path = join(folder, SECRET_FILE)
  try {
    return decode(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const secret = randomBytes(SECRET_BYTES)
  const file = openSync(path, 'wx', 0o600)
  writeSync(file, `${secret.toString('hex')}\n`)
  fsyncSync(file)
  closeSync(file)
  return secret
}

function decode(text: string, path: string): Buffer {
  const hex = text.trim()
  if (!SECRET.test(hex)) throw new StartFault(`${path} is damaged; restore it from a backup`)
  return Buffer.from(hex, 'hex')
}

const CHECK_SETTING = 'secret_check'
const CHECK_CONTEXT = 'secret check'

/**
 * Ties the database to the secret that its contents are sealed with.
 * @throws StartFault when the contents were sealed with another secret
 */
export async function insistOnSameSecret(
  db: Db,
  run: Run<typeof settingCommands>,
  secrets: SecretKeys,
): Promise<void> {
  const stored = await readSetting(db, CHECK_SETTING)
  if (stored === undefined) {
    const value = Buffer.from(secrets.seal(Buffer.from(CHECK_SETTING), CHECK_CONTEXT)).toString('base64')
    await run('putSetting', { key: CHECK_SETTING, value })
    return
  }
  try {
    secrets.open(Buffer.from(stored, 'base64'), CHECK_CONTEXT)
  } catch (error) {
    throw new StartFault(
      'the secret key is not the one this database was written with; restore the former one',
      {
        cause: error,
      },
    )
  }
}
