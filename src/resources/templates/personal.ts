/**
 * Content of a broadcast's email for one recipient: the shared content with the recipient's values in place
 * of the placeholders. Some values are derived from the email; the others are stored in its row.
 */
import { wireId } from '../../lib/ids.ts'
import type { EmailRow } from '../../store/model/schema.ts'
import type { Content } from '../emails/content.ts'
import { parseStoredMailboxes } from '../emails/email-rows.ts'
import { type CompiledTemplate, type CompiledText, compileTemplate } from './compile.ts'
import { PERSONAL_CHARACTERS_MAX } from './limits.ts'
import { fillHoles, fillTemplate } from './render.ts'
import { builtInOf } from './variables.ts'

/** The columns of an email on which its content depends. */
interface PersonalSource extends Pick<EmailRow, 'variables' | 'toList' | 'broadcastId'> {
  content: Content
}

/** URLs for one recipient. Each is made only if the content contains its placeholder. */
export interface PersonalLinks {
  unsubscribeUrl(): string
  /** Page with the email itself. */
  viewUrl(): string
}

/** For content that is shown to others, who must not be able to unsubscribe the recipient. */
export const NO_LINKS: PersonalLinks = { unsubscribeUrl: () => '', viewUrl: () => '' }

export interface PersonalContent extends Content {
  /** The template and values of the html; undefined if the html has no placeholders. */
  filled?: {
    /** The same object for all recipients. */
    template: CompiledText
    /** Returns the values of the holes, in their order. */
    values(): string[]
  }
}

/** Parsed content of a broadcast, with the values of its variables for one email. */
export interface Personal {
  template: CompiledTemplate
  values: (string | undefined)[]
}

/** Returns undefined if the content has no placeholders. A content object is parsed once. */
type FindPersonal = (source: PersonalSource, links: PersonalLinks) => Personal | undefined

export function createFindPersonal(): FindPersonal {
  const parsed = new WeakMap<Content, CompiledTemplate>()
  return (source, links) => {
    if (source.variables === null) return undefined
    const template = parsed.get(source.content) ?? compileTemplate({ subject: null, ...source.content })
    parsed.set(source.content, template)
    return { template, values: valuesFor(template, source, links) }
  }
}

export function personalContent(source: PersonalSource, links: PersonalLinks): PersonalContent {
  const personal = createFindPersonal()(source, links)
  return personal ? filledContent(personal) : source.content
}

/** @throws if the result exceeds the limits, which the limits of broadcasts and contacts prevent */
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
  { variables: variableValues, toList, broadcastId }: PersonalSource,
  links: PersonalLinks,
): (string | undefined)[] {
  const own = new Map(Object.entries(JSON.parse(variableValues!) as Record<string, string>))
  return variables.map(({ name }) => {
    switch (builtInOf(name)) {
      case 'email':
        return parseStoredMailboxes(toList)[0]?.address
      case 'broadcast_id':
        return broadcastId === null ? undefined : wireId('brd', broadcastId)
      case 'unsubscribe_url':
        return links.unsubscribeUrl()
      case 'view_in_browser_url':
        return links.viewUrl()
      default:
        return own.get(name)
    }
  })
}
