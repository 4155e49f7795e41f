/**
 * The installation secret: `secret_key` of the configuration, or else a file of the data folder that only its
 * owner can read.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createSecretKeys, SECRET_BYTES_MIN, type SecretKeys } from '../../lib/secret-keys.ts'
import { StartFault } from '../../lib/start-fault.ts'
import { DRAFTS_FOLDER } from '../blobs/drafts.ts'
import type { Run } from '../model/command.ts'
import type { Db } from '../model/schema.ts'
import { readSetting, type settingCommands } from '../reading/settings.ts'

/** Name of the file in the data folder. */
export const SECRET_FILE = 'secret.key'
const SECRET_BYTES = 32
const SECRET = /^[0-9a-f]{64}$/i

/** Whether an installation has used the folder: it contains the secret or stored files. */
export function hasBeenUsed(folder: string, blobFolder: string): boolean {
  if (existsSync(join(folder, SECRET_FILE))) return true
  return existsSync(blobFolder) && readdirSync(blobFolder).some(name => name !== DRAFTS_FOLDER)
}

/**
 * Reads the secret that the operator gave. A configured text in the form of the file may be meant as that
 * file's secret, or as the text itself, which is how earlier versions took it; the database decides
 * (`secretOf`).
 *
 * @param configured `secret_key` of the configuration
 * @returns the possible secrets, first the one that a new database is tied to; empty when there is none yet
 * @throws StartFault when the secret is too short or damaged
 */
export function givenSecrets(folder: string, configured: string | null): Buffer[] {
  if (configured === null) {
    const secret = readSecret(folder)
    return secret === undefined ? [] : [secret]
  }
  const bytes = Buffer.from(configured)
  if (bytes.length < SECRET_BYTES_MIN)
    throw new StartFault(
      `secret_key (MAILHORN_SECRET_KEY) is too short: it has ${bytes.length} bytes and needs at least ${SECRET_BYTES_MIN}; ` +
        'if the database was written with a longer one, restore that',
    )
  const hex = configured.trim()
  return SECRET.test(hex) ? [Buffer.from(hex, 'hex'), bytes] : [bytes]
}

/** Reads `secret.key`, or creates it. */
export function readOrCreateSecret(folder: string): Buffer {
  const known = readSecret(folder)
  if (known !== undefined) return known
  const secret = randomBytes(SECRET_BYTES)
  const file = openSync(join(folder, SECRET_FILE), 'wx', 0o600)
  writeSync(file, `${secret.toString('hex')}\n`)
  fsyncSync(file)
  closeSync(file)
  return secret
}

/** @returns undefined when there is no file */
export function readSecret(folder: string): Buffer | undefined {
  const path = join(folder, SECRET_FILE)
  try {
    return decode(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function decode(text: string, path: string): Buffer {
  const hex = text.trim()
  if (!SECRET.test(hex)) throw new StartFault(`${path} is damaged; restore it from a backup`)
  return Buffer.from(hex, 'hex')
}

/** Key of the setting that ties a database to its secret: a known text, sealed with the secret. */
export const SECRET_CHECK_SETTING = 'secret_check'
const CHECK_CONTEXT = 'secret check'

/**
 * Chooses the secret that a database was written with.
 * @param stored value of the setting `secret_check`; undefined when the database is not yet tied to a secret
 * @param place data folder, and whether the secrets are those of `secret_key`, for the message
 * @returns undefined when there is no secret and none is needed yet
 * @throws StartFault when none of the secrets fits
 */
export function secretOf(
  stored: string | undefined,
  secrets: readonly Buffer[],
  place: { folder: string; isConfigured: boolean },
): Buffer | undefined {
  if (stored === undefined) return secrets[0]
  const fitting = secrets.find(secret => misfit(createSecretKeys(secret), stored) === undefined)
  if (fitting) return fitting
  throw otherSecret(remedyFor(stored, secrets, place))
}

/** @returns which secret is the wrong one and where the right one may be, as the end of a sentence */
function remedyFor(
  stored: string,
  secrets: readonly Buffer[],
  { folder, isConfigured }: { folder: string; isConfigured: boolean },
): string {
  const file = join(folder, SECRET_FILE)
  if (!isConfigured)
    return (
      `${file} ${secrets.length === 0 ? 'is missing' : 'holds another one'}; restore the former one, ` +
      'or set MAILHORN_SECRET_KEY again if the service was started with it'
    )
  const fileSecret = secretInFile(folder)
  return fileSecret !== undefined && misfit(createSecretKeys(fileSecret), stored) === undefined
    ? `secret_key (MAILHORN_SECRET_KEY) has another value, and ${file} holds the right one; remove the setting`
    : 'secret_key (MAILHORN_SECRET_KEY) has another value; restore the former one, or the former secret.key and no setting'
}

/** @returns undefined also when `secret.key` is damaged, which does not matter beside a configured secret */
function secretInFile(folder: string): Buffer | undefined {
  try {
    return readSecret(folder)
  } catch {
    return undefined
  }
}

/** @returns why the secret does not open what the database was tied to; undefined when it does */
function misfit(secrets: SecretKeys, stored: string): unknown {
  try {
    secrets.open(Buffer.from(stored, 'base64'), CHECK_CONTEXT)
    return undefined
  } catch (error) {
    return error
  }
}

/** Tells whether contents of the database were sealed with the secret, by the value of `secret_check`. */
export function opensSecretCheck(secrets: SecretKeys, stored: string): boolean {
  return misfit(secrets, stored) === undefined
}

function otherSecret(remedy: string, cause?: unknown): StartFault {
  const text = `the secret key is not the one this database was written with: ${remedy}`
  return new StartFault(text, { cause })
}

/**
 * Ties the database to the secret that its contents are sealed with.
 * @throws StartFault when the contents were sealed with another secret
 */
export async function requireSameSecret(
  db: Db,
  run: Run<typeof settingCommands>,
  secrets: SecretKeys,
): Promise<void> {
  const stored = await readSetting(db, SECRET_CHECK_SETTING)
  if (stored === undefined) {
    const value = Buffer.from(secrets.seal(Buffer.from(SECRET_CHECK_SETTING), CHECK_CONTEXT)).toString(
      'base64',
    )
    await run('putSetting', { key: SECRET_CHECK_SETTING, value })
    return
  }
  const cause = misfit(secrets, stored)
  if (cause !== undefined) throw otherSecret('restore the former one', cause)
}
