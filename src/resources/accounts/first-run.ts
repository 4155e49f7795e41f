/**
 * Prepares the first start: creates an account, its operator and an API key, whose secrets are shown once.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/ids.ts'
import { StartFault } from '../../lib/start-fault.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import { newApiKey } from './api-keys.ts'
import type { Passwords } from './password.ts'
import { hasUsers, type userCommands } from './user-rows.ts'

interface Credentials {
  email: string
  /** Generated password; null when the operator set one in the configuration. */
  generatedPassword: string | null
  apiKey: string
}

export interface FirstRun extends Credentials {
  /** Path of the file with the secrets, which are then not printed; null if there is none. */
  credentialsFile: string | null
}

interface FirstRunOptions {
  db: Db
  run: Run<typeof userCommands>
  clock: Clock
  newId: IdSource
  passwords: Passwords
  email: string
  password: string | null
  apiKeyPrefix: string
  /** Path of the file for the secrets; null to return them instead. */
  credentialsFile: string | null
}

/**
 * Returns undefined if a user exists.
 * @throws StartFault if the file for the secrets cannot be created
 */
export async function prepareFirstRun(options: FirstRunOptions): Promise<FirstRun | undefined> {
  const { db, run, clock, newId, passwords, email, password, apiKeyPrefix, credentialsFile } = options
  if (await hasUsers(db)) return undefined
  const generatedPassword = password === null ? randomUUID() : null
  const passwordHash = await passwords.hash(password ?? generatedPassword!)
  const now = clock.now()
  const account = { id: newId(now), name: 'Main', plan: 'scale', createdAt: now, suspendedAt: null }
  const user = {
    id: newId(now),
    accountId: account.id,
    email: foldAddress(email),
    passwordHash,
    operator: 1 as const,
    createdAt: now,
  }
  const key = newApiKey({
    id: newId(now),
    accountId: account.id,
    name: 'First key',
    domainId: null,
    prefix: apiKeyPrefix,
    now,
  })
  const credentials = { email: user.email, generatedPassword, apiKey: key.token }
  if (credentialsFile !== null) writeCredentialsFile(credentialsFile, credentials) // the secrets are written before they become valid
  const created = await run('createFirstUser', { account, user, apiKey: key.row })
  if (created) return { ...credentials, credentialsFile }
  if (credentialsFile !== null) rmSync(credentialsFile)
  return undefined
}

/**
 * Makes the file, and has it on the disk when it returns.
 * @throws StartFault when there is one, which is left as it is, or when it cannot be written
 */
function writeCredentialsFile(path: string, { email, generatedPassword, apiKey }: Credentials): void {
  const lines = [
    `User: ${email}`,
    ...(generatedPassword === null ? [] : [`Password: ${generatedPassword}`]),
    `API key: ${apiKey}`,
  ]
  let isMade = false
  try {
    const file = openSync(path, 'wx', 0o600)
    isMade = true
    try {
      writeSync(file, `${lines.join('\n')}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (isMade) rmSync(path, { force: true })
    throw new StartFault(
      (error as NodeJS.ErrnoException).code === 'EEXIST'
        ? `admin.credentials_file: ${path} is there already; remove it, or name another file`
        : `admin.credentials_file: cannot be written (${(error as Error).message})`,
    )
  }
}
