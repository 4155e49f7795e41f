/** Passwords that cost next to nothing to check: nobody tries to guess those of tests. */
import { createPasswords, type Passwords } from '../../src/resources/accounts/password.ts'

export function quickPasswords(): Passwords {
  return createPasswords({ N: 256, r: 8, p: 1 })
}
