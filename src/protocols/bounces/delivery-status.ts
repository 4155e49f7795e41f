/** Parses the fields of message/delivery-status parts (RFC 3464, RFC 6533). */

/** Fields of one recipient with their values as written. */
export interface StatusGroup {
  finalRecipient: string | undefined
  originalRecipient: string | undefined
  action: string | undefined
  status: string | undefined
  remoteMta: string | undefined
  /** Diagnostic-Code values in their order, with their types. */
  diagnostics: readonly string[]
}

export interface DsnStatus {
  reportingMta: string | undefined
  envelopeId: string | undefined
  /** Value of `X-Original-Message-ID`, which some systems add. */
  messageId: string | undefined
  recipients: readonly StatusGroup[]
}

type Group = { -readonly [K in keyof StatusGroup]: StatusGroup[K] } & { diagnostics: string[] }

const FIELD = /^[\t ]{0,4}([A-Za-z][A-Za-z0-9-]{1,60})[\t ]{0,4}:(.*)$/
const RECIPIENTS_MAX = 100
/** Properties of a recipient by field. A repeated field begins the next recipient. */
const SLOTS = new Map<string, 'finalRecipient' | 'originalRecipient' | 'action' | 'status' | 'remoteMta'>([
  ['final-recipient', 'finalRecipient'],
  ['original-recipient', 'originalRecipient'],
  ['action', 'action'],
  ['status', 'status'],
  ['remote-mta', 'remoteMta'],
])

/** Tells whether a text of another media type holds such fields. */
export function holdsDeliveryStatus(text: string): boolean {
  const begin = text.slice(0, 8_000)
  return (
    /^[\t ]{0,4}(?:final|original)-recipient[\t ]{0,4}:/im.test(begin) &&
    /^[\t ]{0,4}(?:action|status)[\t ]{0,4}:/im.test(begin)
  )
}

/** @param text lines end in LF */
export function readDeliveryStatus(text: string): DsnStatus {
  const message = new Map<string, string>()
  const groups: Group[] = []
  let opens = false
  for (const { name, value } of fieldsOf(text)) {
    if (name === '') {
      opens = true
      continue
    }
    const slot = SLOTS.get(name)
    const last = groups.at(-1)
    if (slot !== undefined) {
      const begins = !last || last[slot] !== undefined || (opens && isComplete(last) && slot !== 'remoteMta')
      if (begins && groups.length < RECIPIENTS_MAX) groups.push(emptyGroup())
      groups.at(-1)![slot] ??= value
    } else if (last && (name === 'diagnostic-code' || name === 'x-powermta-bouncecategory')) {
      if (last.diagnostics.length < 8) last.diagnostics.push(value)
    } else if (!message.has(name)) message.set(name, value)
    opens = false
  }
  return {
    reportingMta: withoutType(message.get('reporting-mta')),
    envelopeId: message.get('original-envelope-id'),
    messageId: message.get('x-original-message-id'),
    recipients: groups.filter(group => group.action !== undefined || group.status !== undefined),
  }
}

/** Removes the type of a typed field, as in `rfc822; user@there.example` (RFC 3464 §2.1.2). */
export function withoutType(value: string | undefined): string | undefined {
  return value?.replace(/^[\w.+-]{1,40}[\t ]{0,4};[\t ]{0,8}/, '').trim()
}

/** Returns unfolded fields in their order; an empty name represents an empty line. */
function fieldsOf(text: string): { name: string; value: string }[] {
  const fields: { name: string; value: string }[] = []
  for (const line of text.split('\n')) {
    const found = FIELD.exec(line)
    const last = fields.at(-1)
    // An indented field looks like a folded line, so only fields with known names are recognized.
    const isField = found && (!/^[\t ]/.test(line) || SLOTS.has(found[1]!.toLowerCase()))
    if (isField) fields.push({ name: found[1]!.toLowerCase(), value: found[2]!.trim() })
    else if (line.trim() === '') fields.push({ name: '', value: '' })
    else if (last && last.name !== '' && last.value.length < 4_000)
      last.value = `${last.value} ${line.trim()}`.trim()
  }
  return fields
}

function isComplete(group: Group): boolean {
  const named = group.finalRecipient !== undefined || group.originalRecipient !== undefined
  return named && group.action !== undefined && group.status !== undefined
}

function emptyGroup(): Group {
  return {
    finalRecipient: undefined,
    originalRecipient: undefined,
    action: undefined,
    status: undefined,
    remoteMta: undefined,
    diagnostics: [],
  }
}
