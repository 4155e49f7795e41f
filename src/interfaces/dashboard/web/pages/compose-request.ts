/** Fields of an email that is being written, and the request that sends it once. */

import {
  ATTACHMENTS_MAX,
  ENCODED_OCTETS_PER_BYTE,
  MESSAGE_BYTES_MAX,
} from '../../../../pipeline/accept/message-limits.ts'
import { compileTemplate } from '../../../../resources/templates/compile.ts'
import { ApiError } from '../api/client.ts'
import { base64Of, randomId } from '../api/files.ts'
import type { SentEmail } from '../api/send-once.ts'
import type { Template } from '../api/types.ts'
import { mailboxesIn, mailboxText } from '../labels/mailboxes.ts'
import { bytes, counted } from '../labels/numbers.ts'
import { nested, valueOfType } from './template-variables.tsx'

/** A chosen file. Its content is not part of the draft, which may be stored. */
interface ChosenFile {
  id: string
  name: string
  type: string
  bytes: number
}

export type Content = 'text' | 'html' | 'template'

export interface ComposeFields {
  /** Display name of the sender. */
  name: string
  localPart: string
  /** Empty for the first domain. */
  domain: string
  to: string
  cc: string
  bcc: string
  replyTo: string
  subject: string
  content: Content
  text: string
  html: string
  /** Id of the template; empty if none is chosen. */
  template: string
  /** What is typed for the variables of the template, by name. */
  values: Record<string, string>
  files: ChosenFile[]
  /** Local time at which to send; empty for now. */
  when: string
}

export const EMPTY: ComposeFields = {
  ...{ name: '', localPart: 'hello', domain: '', to: '', cc: '', bcc: '', replyTo: '', subject: '' },
  ...{ content: 'text', text: '', html: '', template: '', values: {}, files: [], when: '' },
}

/** Files fit into a message up to this number of bytes, less what its texts take. */
const FILES_BYTES_MAX = Math.floor(MESSAGE_BYTES_MAX / ENCODED_OCTETS_PER_BYTE)
export const FILES_LIMIT = `Up to ${counted(ATTACHMENTS_MAX, 'file')}, together ${Math.floor(FILES_BYTES_MAX / 1_000_000)} MB.`

/** Contents by the id of the file. They survive leaving the page, but not a reload. */
const contents = new Map<string, File>()

export function chosenFiles(files: Iterable<File>): ChosenFile[] {
  return [...files].map(file => {
    const id = randomId()
    contents.set(id, file)
    return { id, name: file.name, type: file.type, bytes: file.size }
  })
}

/** Forgets the contents of all other files. */
export function keepContentsOf(files: readonly ChosenFile[]): void {
  const kept = new Set(files.map(({ id }) => id))
  for (const id of contents.keys()) if (!kept.has(id)) contents.delete(id)
}

/** Returns why the files cannot be sent, if so. */
export function filesFault(files: readonly ChosenFile[]): string | undefined {
  const lost = files.filter(({ id }) => !contents.has(id))
  if (lost.length > 0) {
    const names = lost.map(({ name }) => `“${name}”`).join(', ')
    return `The browser no longer has ${names}, because the page was reloaded. Remove ${lost.length === 1 ? 'it' : 'them'}, or add ${lost.length === 1 ? 'it' : 'them'} again.`
  }
  const total = files.reduce((sum, file) => sum + file.bytes, 0)
  if (total > FILES_BYTES_MAX) return `The files are too large: ${bytes(total)} together. ${FILES_LIMIT}`
  return files.length > ATTACHMENTS_MAX ? `There are ${files.length} files. ${FILES_LIMIT}` : undefined
}

/** @throws ApiError if a file cannot be read */
async function attachmentsOf(files: readonly ChosenFile[]) {
  const fault = filesFault(files)
  if (fault) throw faultAt('attachments', fault)
  const attachments = []
  for (const { id, name, type } of files) {
    const content = await base64Of(contents.get(id)!).catch(() => {
      throw faultAt(
        'attachments',
        `“${name}” cannot be read. It may have been moved or changed: add it again.`,
      )
    })
    attachments.push({ filename: name, content, ...(type && { content_type: type }) })
  }
  return attachments
}

function faultAt(path: string, message: string): ApiError {
  return new ApiError(422, 'validation_error', message, [{ path, message }])
}

/** The content of a template of which emails are made. */
export type UsedTemplate = Pick<Template, 'subject' | 'html' | 'text' | 'variables'>

/**
 * @param domain domain of the sender
 * @param template chosen template, once it is loaded
 * @throws ApiError
 */
export async function requestOf(fields: ComposeFields, domain: string, template: UsedTemplate | undefined) {
  const { content, subject, when } = fields
  return {
    from: mailboxText(fields.name, `${fields.localPart.trim()}@${domain}`),
    to: mailboxesIn(fields.to),
    cc: mailboxesIn(fields.cc),
    bcc: mailboxesIn(fields.bcc),
    reply_to: mailboxesIn(fields.replyTo),
    ...((content !== 'template' || subject.trim() !== '') && { subject }),
    ...(content === 'text' && { text: fields.text }),
    ...(content === 'html' && { html: fields.html, ...(fields.text !== '' && { text: fields.text }) }),
    ...(content === 'template' && { template: templateOf(fields, template) }),
    attachments: await attachmentsOf(fields.files),
    ...(when !== '' && { scheduled_at: new Date(when).toISOString() }),
  }
}

type EmailRequest = Awaited<ReturnType<typeof requestOf>>

function templateOf({ template: id, values }: ComposeFields, template: UsedTemplate | undefined) {
  if (id === '') throw faultAt('template.id', 'Choose a template.')
  if (!template) throw faultAt('template.id', 'The template is not loaded yet. Try again.')
  return { id, variables: valuesOf(values, template) }
}

/** Returns the values of the template's variables that are not empty, in their declared types. */
export function valuesOf(values: ComposeFields['values'], template: UsedTemplate): Record<string, unknown> {
  const types = new Map(template.variables.map(({ key, type }) => [key, type]))
  const given = compileTemplate(template).variables.flatMap(({ name }) => {
    const text = values[name] ?? ''
    return text === '' ? [] : [[name, valueOfType(types.get(name) ?? 'string', text)] as const]
  })
  return nested(given)
}

/** Words the warnings of a reply for the page of the email. */
export function warningWords({ warnings = [] }: SentEmail, { attachments }: EmailRequest): string[] {
  return warnings.map(({ path, message }) => {
    const file = attachments[Number(/^attachments\[(\d+)\]\.content$/.exec(path)?.[1])]
    if (!file) return message
    return `“${file.filename}” is not UTF-8 text. Recipients may see wrong characters in it.`
  })
}

/** Returns the message about a field with addresses, and names the address if it is one of several. */
export function addressFault(
  error: ApiError | undefined,
  path: 'to' | 'cc' | 'bcc' | 'reply_to',
  sent: EmailRequest | undefined,
): string | undefined {
  const at = error?.fields.find(field => field.path.startsWith(`${path}[`))?.path.slice(path.length + 1, -1)
  const address = sent?.[path][Number(at)]
  const message = error?.of(path)
  return address ? message?.replace('the address', `the address “${address}”`) : message
}
