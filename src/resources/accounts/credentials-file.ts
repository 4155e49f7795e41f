/** The secrets of the first start in a file for its owner alone, where they are not to be printed. */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { StartFault } from '../../lib/start-fault.ts'

export interface Credentials {
  email: string
  /** Generated password; null when the operator set one in the configuration. */
  generatedPassword: string | null
  apiKey: string
}

/**
 * Makes the file, and has it on the disk when it returns.
 * @throws StartFault when there is one, which is left as it is, or when it cannot be written
 */
export function writeCredentialsFile(path: string, { email, generatedPassword, apiKey }: Credentials): void {
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
