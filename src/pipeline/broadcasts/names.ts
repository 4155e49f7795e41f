/** Internal names of broadcasts. Pure: the dashboard bundles this file. */

export const NAME_LENGTH_MAX = 200
const COPY = ' (copy)'

/** Returns the name of a broadcast that was given none. */
export function nameOfSubject(subject: string): string {
  return subject.slice(0, NAME_LENGTH_MAX).toWellFormed()
}

/** Returns the name of a duplicate; that of a copy is not lengthened further. */
export function nameOfCopy(name: string): string {
  if (name === '' || name.endsWith(COPY)) return name
  return name.slice(0, NAME_LENGTH_MAX - COPY.length).toWellFormed() + COPY
}

/** Returns the name after the subject was changed: it follows the subject unless somebody has chosen it. */
export function nameAfter(name: string, formerSubject: string, subject: string): string {
  const derived = nameOfSubject(formerSubject)
  return ['', derived, nameOfCopy(derived)].includes(name) ? nameOfSubject(subject) : name
}
