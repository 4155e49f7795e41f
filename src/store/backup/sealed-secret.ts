/** The secret key in a backup, encrypted under the operator's passphrase by scrypt and AES-256-GCM. */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import * as z from 'zod'
import { BackupFault } from './backup-fault.ts'

/** 128 MiB and half a second for each guess. */
const COST = { N: 2 ** 17, r: 8, p: 1 }
const MEMORY_MAX = 256 * 1024 * 1024
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const SALT_BYTES = 16
const IV_BYTES = 12
/** Ties the contents to their purpose. */
const PURPOSE = Buffer.from('mailhorn backup: secret key, format 1')
export const PASSPHRASE_BYTES_MIN = 12

const base64 = z.base64().transform(text => Buffer.from(text, 'base64'))
const schema = z.object({
  kdf: z.literal('scrypt'),
  N: z.literal(COST.N),
  r: z.literal(COST.r),
  p: z.literal(COST.p),
  cipher: z.literal(CIPHER),
  salt: base64,
  iv: base64,
  tag: base64,
  data: base64,
})

/** @throws BackupFault when the passphrase is too short */
export function sealSecret(secret: Uint8Array, passphrase: string): string {
  if (Buffer.byteLength(passphrase) < PASSPHRASE_BYTES_MIN)
    throw new BackupFault(
      `the passphrase (backup.passphrase) is too short: it needs at least ${PASSPHRASE_BYTES_MIN} characters`,
    )
  const salt = randomBytes(SALT_BYTES)
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, keyFrom(passphrase, salt), iv)
  cipher.setAAD(PURPOSE)
  const data = Buffer.concat([cipher.update(secret), cipher.final()])
  const parts = { salt, iv, tag: cipher.getAuthTag(), data }
  const texts = Object.entries(parts).map(([name, bytes]) => [name, bytes.toString('base64')])
  return `${JSON.stringify({ kdf: 'scrypt', ...COST, cipher: CIPHER, ...Object.fromEntries(texts) }, null, 2)}\n`
}

/** @throws BackupFault when the passphrase is wrong, or the text is damaged */
export function openSealedSecret(text: string, passphrase: string): Buffer {
  const { salt, iv, tag, data } = readSealed(text)
  try {
    const decipher = createDecipheriv(CIPHER, keyFrom(passphrase, salt), iv, { authTagLength: 16 })
    decipher.setAAD(PURPOSE)
    decipher.setAuthTag(tag)
    return Buffer.concat([decipher.update(data), decipher.final()])
  } catch (error) {
    throw new BackupFault('the passphrase (backup.passphrase) does not open the secret key of the backup', {
      cause: error,
    })
  }
}

function readSealed(text: string): z.output<typeof schema> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new BackupFault('the sealed secret key is damaged', { cause: error })
  }
  const read = schema.safeParse(value)
  if (!read.success) throw new BackupFault('the sealed secret key is damaged', { cause: read.error })
  return read.data
}

function keyFrom(passphrase: string, salt: Uint8Array): Buffer {
  return scryptSync(passphrase, salt, KEY_BYTES, { ...COST, maxmem: MEMORY_MAX })
}
