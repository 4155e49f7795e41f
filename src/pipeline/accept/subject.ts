/** What a subject may be, whether a user or a template wrote it. */

/** Characters. */
export const SUBJECT_CHARACTERS_MAX = 2_000
const BREAKS = /[\r\n\0]/

/** What is wrong with it, to be put after its name; undefined when nothing is. */
export function subjectFault(subject: string): string | undefined {
  if (BREAKS.test(subject)) return 'must not contain CR, LF or NUL'
  return subject.length > SUBJECT_CHARACTERS_MAX ? `may have ${SUBJECT_CHARACTERS_MAX} characters` : undefined
}
