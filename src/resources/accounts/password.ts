/**
 * Hashes passwords with scrypt (RFC 7914). The number of concurrent hashes is limited, because each needs 32
 * MiB and a CPU core.
 */
import { randomBytes, type ScryptOptions, scrypt } from 'node:crypto'
import { equalBytes } from '../../lib/secret-keys.ts'
import { createPasswordQueue, type PasswordTurn } from './password-queue.ts'

export interface Passwords {
  /**
   * Returns `scrypt$<N>$<r>$<p>$<salt>$<hash>` in base64.
   *
   * @param turn attribution; by default the operator
   * @throws TooManyWaiting
   */
  hash(password: string, turn?: PasswordTurn): Promise<string>
  /**
   * Computes a hash even without a stored one, so that the response time does not reveal whether a user
   * exists.
   *
   * @param turn attribution; by default the operator
   * @throws TooManyWaiting
   */
  verify(password: string, stored: string | undefined, turn?: PasswordTurn): Promise<boolean>
}

/** Limits of the length of a password, in characters. */
export const PASSWORD_LENGTH = { min: 8, max: 1024 }

/** Parameters of scrypt (RFC 7914 §2) for new hashes. Stored hashes contain their own parameters. */
interface PasswordCost {
  N: number
  r: number
  p: number
}

const COST: PasswordCost = { N: 32_768, r: 8, p: 1 }
const HASH_BYTES = 32
const SALT_BYTES = 16
const OPERATOR: PasswordTurn = { owner: 'operator', standing: 'operator' }

export function createPasswords(newCost = COST): Passwords {
  const queue = createPasswordQueue()
  const derive = (password: string, salt: Buffer, cost: PasswordCost, turn: PasswordTurn) =>
    queue.run(turn, () => scryptAsync(password.normalize('NFC'), salt, cost))
  return {
    async hash(password, turn = OPERATOR) {
      const salt = randomBytes(SALT_BYTES)
      const hash = await derive(password, salt, newCost, turn)
      const { N, r, p } = newCost
      return ['scrypt', N, r, p, salt.toString('base64'), hash.toString('base64')].join('$')
    },
    async verify(password, stored, turn = OPERATOR) {
      const parsed = stored === undefined ? undefined : parse(stored)
      const { cost, salt, hash } = parsed ?? {
        cost: newCost,
        salt: Buffer.alloc(SALT_BYTES),
        hash: undefined,
      }
      const derived = await derive(password, salt, cost, turn)
      return hash !== undefined && equalBytes(derived, hash)
    },
  }
}

function parse(stored: string) {
  const [scheme, N, r, p, salt, hash] = stored.split('$')
  if (scheme !== 'scrypt' || hash === undefined) throw new Error('a stored password hash is damaged')
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt!, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

function scryptAsync(password: string, salt: Buffer, cost: PasswordCost): Promise<Buffer> {
  const options: ScryptOptions = { ...cost, maxmem: 256 * cost.N * cost.r }
  return new Promise((resolve, reject) =>
    scrypt(password, salt, HASH_BYTES, options, (error, hash) => (error ? reject(error) : resolve(hash))),
  )
}
