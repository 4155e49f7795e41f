/** The installation's secret where the operator gives none: a file in the data folder that only its owner reads. */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'secret.key'
const SECRET_BYTES = 32

/** Reads `secret.key`, or makes it. */
export function readOrCreateSecret(folder: string): Buffer {
  const path = join(folder, FILE)
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
  const secret = Buffer.from(text.trim(), 'hex')
  if (secret.length !== SECRET_BYTES) throw new Error(`${path} is damaged; restore it from a backup`)
  return secret
}
