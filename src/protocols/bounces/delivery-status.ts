/**
 * Parses the fields of message/delivery-status parts (RFC 3464, RFC 6533). The fields of a recipient form a
 * group that begins and ends at an empty line, and stand in any order within it (RFC 3464 §2.1). Systems that
 * break up groups, or separate them by nothing, are read, too.
 */

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

type Slot = 'finalRecipient' | 'originalRecipient' | 'action' | 'status' | 'remoteMta'
type Group = { -readonly [K in keyof StatusGroup]: StatusGroup[K] } & { diagnostics: string[] }

/** Lines between two empty lines. */
interface Block {
  group: Group
  /** True if fields of the message stand in the same lines. */
  describesMessage: boolean
}

interface Field {
  /** In lower case. */
  name: string
  value: string
}

const FIELD = /^[\t ]{0,4}([A-Za-z][A-Za-z0-9-]{1,60})[\t ]{0,4}:(.*)$/
const RECIPIENTS_MAX = 100
const DIAGNOSTICS_MAX = 8
/** Properties of a recipient by field. */
const SLOTS = new Map<string, Slot>([
  ['final-recipient', 'finalRecipient'],
  ['original-recipient', 'originalRecipient'],
  ['action', 'action'],
  ['status', 'status'],
  ['remote-mta', 'remoteMta'],
])
const DIAGNOSTIC_FIELDS = new Set(['diagnostic-code', 'x-powermta-bouncecategory'])
const MESSAGE_FIELDS = new Set(['reporting-mta', 'original-envelope-id', 'arrival-date', 'dsn-gateway'])

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
  const blocks: Block[] = []
  for (const fields of blocksOf(text)) {
    for (const { name, value } of fields)
      if (!isOfRecipient(name) && !message.has(name)) message.set(name, value)
    const describesMessage = fields.some(({ name }) => MESSAGE_FIELDS.has(name))
    for (const group of groupsOf(fields)) blocks.push({ group, describesMessage })
    if (blocks.length > 2 * RECIPIENTS_MAX) break
  }
  return {
    reportingMta: withoutType(message.get('reporting-mta')),
    envelopeId: message.get('original-envelope-id'),
    messageId: message.get('x-original-message-id'),
    recipients: joined(blocks)
      .filter(group => group.action !== undefined || group.status !== undefined)
      .slice(0, RECIPIENTS_MAX),
  }
}

/** Returns the fields of a text in lower case by name; of a repeated field, the first. */
export function fieldsIn(text: string): ReadonlyMap<string, string> {
  return new Map(
    blocksOf(text)
      .flat()
      .toReversed()
      .map(({ name, value }) => [name, value]),
  )
}

/** Removes the type of a typed field, as in `rfc822; user@there.example` (RFC 3464 §2.1.2). */
export function withoutType(value: string | undefined): string | undefined {
  return value?.replace(/^[\w.+-]{1,40}[\t ]{0,4};[\t ]{0,8}/, '').trim()
}

/** Returns unfolded fields in their order, by the empty lines between them. */
function blocksOf(text: string): Field[][] {
  const blocks: Field[][] = []
  let block: Field[] = []
  let isIndented = false
  for (const line of text.split('\n')) {
    if (line.trim() === '') {
      if (block.length > 0) blocks.push(block)
      block = []
      continue
    }
    const found = FIELD.exec(line)
    const last = block.at(-1)
    const startsIndented = /^[\t ]/.test(line)
    if (!last) isIndented = startsIndented
    // Where the first line of a block is indented, all its fields are, and look like folded lines.
    const isField =
      found && (!startsIndented || !last || (isIndented && isOfRecipient(found[1]!.toLowerCase())))
    if (isField) block.push({ name: found[1]!.toLowerCase(), value: found[2]!.trim() })
    else if (last && last.value.length < 4_000) last.value = `${last.value} ${line.trim()}`.trim()
  }
  return block.length > 0 ? [...blocks, block] : blocks
}

function isOfRecipient(name: string): boolean {
  return SLOTS.has(name) || DIAGNOSTIC_FIELDS.has(name)
}

/**
 * Returns the groups of one block: one, unless the block names several recipients without empty lines between
 * them. Then a group begins at the field that the first one began with, and at each further Final-Recipient.
 */
function groupsOf(fields: readonly Field[]): Group[] {
  const own = fields.filter(({ name }) => isOfRecipient(name))
  const [first] = own
  if (!first) return []
  const named = (name: string) => own.filter(field => field.name === name).length
  const key = named('final-recipient') > 0 ? 'final-recipient' : 'original-recipient'
  const isSeveral = named(key) > 1
  const groups = [emptyGroup()]
  for (const { name, value } of own) {
    const starts = isSeveral && (name === first.name || name === key)
    if (starts && groups.at(-1)![SLOTS.get(key)!] !== undefined) groups.push(emptyGroup())
    const group = groups.at(-1)!
    const slot = SLOTS.get(name)
    if (slot === undefined) {
      if (group.diagnostics.length < DIAGNOSTICS_MAX) group.diagnostics.push(value)
    } else group[slot] ??= slot === 'status' ? value : withoutComments(value)
  }
  return groups
}

/** Joins the pieces of groups that contain empty lines. */
function joined(blocks: readonly Block[]): Group[] {
  const groups: Group[] = []
  const named = blocks.filter(({ group }) => isNamed(group)).length
  for (const { group, describesMessage } of blocks) {
    // A diagnostic among the fields of the message is that of the only recipient, or nobody's.
    if (describesMessage && named > 1 && !isNamed(group)) continue
    const last = groups.at(-1)
    if (last && belong(last, group)) groups.splice(-1, 1, merged(last, group))
    else groups.push(group)
  }
  return groups
}

/** Tells whether two pieces in sequence complement each other. */
function belong(one: Group, next: Group): boolean {
  const repeats = [...SLOTS.values()].some(slot => one[slot] !== undefined && next[slot] !== undefined)
  const tellsTwice = one.diagnostics.length > 0 && next.diagnostics.length > 0
  const isBare = one.action === undefined && one.status === undefined
  return !repeats && !tellsTwice && (!isNamed(next) || !isNamed(one) || isBare)
}

function merged(one: Group, next: Group): Group {
  return {
    finalRecipient: one.finalRecipient ?? next.finalRecipient,
    originalRecipient: one.originalRecipient ?? next.originalRecipient,
    action: one.action ?? next.action,
    status: one.status ?? next.status,
    remoteMta: one.remoteMta ?? next.remoteMta,
    diagnostics: [...one.diagnostics, ...next.diagnostics],
  }
}

function isNamed({ finalRecipient, originalRecipient }: Group): boolean {
  return finalRecipient !== undefined || originalRecipient !== undefined
}

/** Removes comments (RFC 5322 §3.2.2); one that does not end is kept. */
function withoutComments(value: string): string {
  let text = ''
  let depth = 0
  let isQuoted = false
  let begins = 0
  for (let at = 0; at < value.length; at++) {
    const char = value[at]!
    const isEscaped = char === '\\' && (isQuoted || depth > 0)
    if (char === '"' && depth === 0) isQuoted = !isQuoted
    if (!isQuoted && char === '(' && depth++ === 0) begins = at
    if (depth === 0) text += isEscaped ? value.slice(at, at + 2) : char
    if (!isQuoted && char === ')' && depth > 0) depth--
    if (isEscaped) at++
  }
  return (depth > 0 ? text + value.slice(begins) : text).trim()
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
