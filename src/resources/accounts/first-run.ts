/**
 * The first start: an account, its operator and an API key, whose secrets are handed back to be shown once.
 */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { Run } from '../../store/command.ts'
import type { Db } from '../../store/schema.ts'
import { newApiKey } from './api-keys.ts'
import { type Credentials, writeCredentialsFile } from './credentials-file.ts'
import type { Passwords } from './password.ts'
import { hasUsers, type userCommands } from './user-rows.ts'

export interface FirstRun extends Credentials {
  /** Where the secrets are, which are then not to be printed; null where there is no such file. */
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
  /** Gets the secrets; none does when it is null. */
  credentialsFile: string | null
}

/**
 * Undefined when somebody is there already. @throws StartFault when the file for the secrets cannot be made
 */
export async function prepareFirstRun(options: FirstRunOptions): Promise<FirstRun | undefined> {
  const { db, run, clock, newId, passwords, email, password, apiKeyPrefix, credentialsFile } = options
  if (await hasUsers(db)) return undefined
  const generatedPassword = password === null ? randomUUID() : null
  const passwordHash = await passwords.hash(password ?? generatedPassword!)
  const now = clock.now()
  const account = { id: newId(now), name: 'Main', plan: 'scale', createdAt: now }
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
  if (credentialsFile !== null) writeCredentialsFile(credentialsFile, credentials) // before they are of use to anybody
  const created = await run('createFirstUser', { account, user, apiKey: key.row })
  if (created) return { ...credentials, credentialsFile }
  if (credentialsFile !== null) rmSync(credentialsFile)
  return undefined
}
