/**
 * Words the API's messages about a field for a form: by the label of the field in place of the name of the
 * parameter.
 */

/** Labels of parameters that messages at the head of a page name. */
const LABELS: Readonly<Record<string, string>> = {
  html: 'HTML',
  text: 'text',
  subject: 'Subject',
  from: 'From',
  to: 'To',
  scheduled_at: 'time',
  audience_id: 'audience',
  segment_id: 'segment',
  topic_id: 'topic',
}

/** Words a message that stands at the field with the label. */
export function faultWords(message: string, label: string): string {
  if (message.startsWith('Missing ')) return `Fill in “${label}”.`
  const words = message
    .replace(/^Invalid `[^`]*`(?: field)?: /, '')
    .replace(/^(?:The )?`[^`]*`(?: field| parameter| time)? /, `${label} `)
    .replace(/^The address in `[^`]*` /, 'The address ')
    .replaceAll(/ \(`[^`]*`\)/g, '')
  return capitalized(plainWords(words))
}

/** Words a message that stands at the head of a form or a page. */
export function plainWords(message: string): string {
  return capitalized(
    message
      .replaceAll(/`([^`]*)`/g, (_, name: string) => LABELS[name] ?? name)
      .replace(/^Missing (.*) field\b/, 'Missing $1'),
  )
}

export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
