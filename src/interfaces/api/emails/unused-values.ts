/** Warns about values of a template that it has no variable for, in the replies to sends. */
import type { PreparedRequest } from '../../../pipeline/accept/prepared.ts'
import type { Warning } from '../warnings.ts'

/** Maximum number of warnings in a reply. */
const WARNINGS_MAX = 100

/** Names the values in the request, with the position of the email in a batch. */
export function warningsOfUnused({ emails, mode }: Pick<PreparedRequest, 'emails' | 'mode'>): Warning[] {
  const warnings: Warning[] = []
  for (const { index, email } of emails)
    for (const value of email.unusedValues ?? []) {
      if (warnings.length === WARNINGS_MAX) return warnings
      const path = mode === null ? value : `[${index}].${value}`
      warnings.push({ path, message: `The template has no variable for \`${path}\`.` })
    }
  return warnings
}
