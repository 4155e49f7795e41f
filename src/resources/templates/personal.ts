/**
 * What an email of a broadcast says to its recipient: the content that it shares with the others, with values
 * of its own in place of the placeholders. Some follow from the email; the others it keeps.
 */
import { wireId } from '../../lib/ids.ts'
import type { EmailRow } from '../../store/schema.ts'
import type { Content } from '../emails/content.ts'
import { parseStoredMailboxes } from '../emails/email-rows.ts'
import { type CompiledTemplate, type CompiledText, compileTemplate } from './compile.ts'
import { PERSONAL_CHARACTERS_MAX } from './limits.ts'
import { fillHoles, fillTemplate } from './render.ts'
import { builtInOf } from './variables.ts'

/** An email as far as its words go. */
interface PersonalSource extends Pick<EmailRow, 'variables' | 'toList' | 'broadcastId'> {
  content: Content
}

/** Where its recipient unsubscribes; asked only where the content says it. */
type UnsubscribeUrl = () => string

export interface PersonalContent extends Content {
  /** How the html has come about; absent where nothing in it is the recipient's own. */
  filled?: {
    /** The same object for all recipients. */
    template: CompiledText
    /** What stands in its holes, in their order. */
    values(): string[]
  }
}

/** The content of a broadcast, parsed, and the values that stand for its variables in one of its emails. */
export interface Personal {
  template: CompiledTemplate
  values: (string | undefined)[]
}

/**
 * Undefined where the content is what the email says. It is parsed once, as long as it is the same object.
 */
type FindPersonal = (source: PersonalSource, unsubscribeUrl: UnsubscribeUrl) => Personal | undefined

export function createFindPersonal(): FindPersonal {
  const parsed = new WeakMap<Content, CompiledTemplate>()
  return (source, unsubscribeUrl) => {
    if (source.variables === null) return undefined
    const template = parsed.get(source.content) ?? compileTemplate({ subject: null, ...source.content })
    parsed.set(source.content, template)
    return { template, values: valuesFor(template, source, unsubscribeUrl) }
  }
}

/** What an email says. */
export function personalContent(source: PersonalSource, unsubscribeUrl: UnsubscribeUrl): PersonalContent {
  const personal = createFindPersonal()(source, unsubscribeUrl)
  return personal ? filledContent(personal) : source.content
}

/**
 * @throws when it would become too large, which the limits of what broadcasts and contacts may hold prevent
 */
export function filledContent({ template, values }: Personal): PersonalContent {
  const filled = fillTemplate(template, values, PERSONAL_CHARACTERS_MAX)
  if (!filled.ok) throw new Error(`more than ${PERSONAL_CHARACTERS_MAX} characters for one recipient`)
  const words = { html: filled.html, text: filled.text }
  const { html } = template
  return html === null
    ? words
    : { ...words, filled: { template: html, values: () => fillHoles(html, values) } }
}

function valuesFor(
  { variables }: CompiledTemplate,
  { variables: kept, toList, broadcastId }: PersonalSource,
  unsubscribeUrl: UnsubscribeUrl,
): (string | undefined)[] {
  const own = new Map(Object.entries(JSON.parse(kept!) as Record<string, string>))
  return variables.map(({ name }) => {
    switch (builtInOf(name)) {
      case 'email':
        return parseStoredMailboxes(toList)[0]?.address
      case 'broadcast_id':
        return broadcastId === null ? undefined : wireId('brd', broadcastId)
      case 'unsubscribe_url':
        return unsubscribeUrl()
      default:
        return own.get(name)
    }
  })
}
