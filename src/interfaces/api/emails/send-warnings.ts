/**
 * Warns in the replies to sends about values of a template that it has no variable for, and about contents of
 * attachments that were perhaps not meant as base64.
 */
import type { PreparedRequest } from '../../../pipeline/accept/prepared.ts'
import type { Warning } from '../route/warnings.ts'

/** Maximum number of warnings in a reply. */
const WARNINGS_MAX = 100

/** Names the values in the request, with the position of the email in a batch. */
export function warningsOfSend({ emails, mode }: Pick<PreparedRequest, 'emails' | 'mode'>): Warning[] {
  const warnings: Warning[] = []
  for (const { index, email } of emails) {
    const pathOf = (value: string) => (mode === null ? value : `[${index}].${value}`)
    for (const path of (email.unusedValues ?? []).map(pathOf))
      warnings.push({ path, message: `The template has no variable for \`${path}\`.` })
    warnings.push(...doubtWarnings((email.doubtfulContents ?? []).map(pathOf)))
    if (warnings.length >= WARNINGS_MAX) return warnings.slice(0, WARNINGS_MAX)
  }
  return warnings
}

/** @param paths are those of contents that were perhaps not meant as base64 */
export function doubtWarnings(paths: readonly string[]): Warning[] {
  return paths.map(path => ({
    path,
    message: `\`${path}\` was decoded from base64 to octets that are not UTF-8 text. If it is plain text, encode it as base64; if it is in another charset, name it in \`content_type\`.`,
  }))
}
