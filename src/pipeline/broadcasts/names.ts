/** Internal names of broadcasts. Pure: the dashboard bundles this file. */

import { copiedName } from '../../lib/copy-name.ts'

export const NAME_LENGTH_MAX = 200

/** Returns the name of a broadcast that was given none. */
export function nameOfSubject(subject: string): string {
  return subject.slice(0, NAME_LENGTH_MAX).toWellFormed()
}

/** Returns the name after the subject was changed: it follows the subject unless somebody has chosen it. */
export function nameAfter(name: string, formerSubject: string, subject: string): string {
  const derived = nameOfSubject(formerSubject)
  const isDerived = name === '' || name === derived || copiedName(name) === derived
  return isDerived ? nameOfSubject(subject) : name
}
