/** Renders a broadcast for one reader, as a preview or for a test email. */
import { type Id, wireId } from '../../lib/ids.ts'
import { compileTemplate } from '../../resources/templates/compile.ts'
import { PERSONAL_CHARACTERS_MAX } from '../../resources/templates/limits.ts'
import { fillTemplate } from '../../resources/templates/render.ts'
import { builtInOf } from '../../resources/templates/variables.ts'
import type { ContactRow } from '../../store/model/schema.ts'
import type { StoredBroadcast } from './broadcast-rows.ts'
import { valueFinder } from './emails.ts'
import { inertLinks } from './inert-links.ts'
import { type Placeholders, resolvedContent } from './placeholders.ts'

export interface Sample {
  subject: string
  html: string | null
  text: string | null
}

export type SampleContact = Pick<ContactRow, 'email' | 'firstName' | 'lastName' | 'properties'>

interface Reader {
  address: string
  /** Undefined for a reader of whom only the address is known. */
  contact: SampleContact | undefined
  /** Base URL of the links that each recipient has. */
  linkBase: string
}

/** The links to unsubscribe and to the browser have no effect, so that a test unsubscribes nobody. */
export function sampleOf(broadcast: StoredBroadcast, reader: Reader, placeholders: Placeholders): Sample {
  const { address, contact } = reader
  const template = compileTemplate(resolvedContent(broadcast, placeholders))
  const nobody = { email: address, firstName: null, lastName: null, properties: '{}' }
  const valueFor = valueFinder(contact ?? nobody)
  const values = template.variables.map(
    ({ name }) => builtInValue(name, reader, broadcast.id) ?? valueFor(name),
  )
  const filled = fillTemplate(template, values, PERSONAL_CHARACTERS_MAX)
  if (!filled.ok) throw new Error('a broadcast makes more than the limits of its parts allow')
  return { subject: filled.subject ?? '', html: filled.html, text: filled.text }
}

function builtInValue(name: string, { address, linkBase }: Reader, id: Id): string | undefined {
  switch (builtInOf(name)) {
    case 'email':
      return address
    case 'broadcast_id':
      return wireId('brd', id)
    case 'unsubscribe_url':
      return inertLinks(linkBase).unsubscribe
    case 'view_in_browser_url':
      return inertLinks(linkBase).view
    default:
      return undefined
  }
}
