/** Renders a broadcast for one reader, as a preview or for a test email. */
import { type Id, wireId } from '../../lib/ids.ts'
import { compileTemplate } from '../../resources/templates/compile.ts'
import { PERSONAL_CHARACTERS_MAX } from '../../resources/templates/limits.ts'
import { fillTemplate } from '../../resources/templates/render.ts'
import { builtInOf } from '../../resources/templates/variables.ts'
import type { ContactRow } from '../../store/model/schema.ts'
import type { StoredBroadcast } from './broadcast-rows.ts'
import { valueFinder } from './emails.ts'
import { type Placeholders, resolvedContent } from './placeholders.ts'

export interface Sample {
  subject: string
  html: string | null
  text: string | null
}

export type SampleContact = Pick<ContactRow, 'email' | 'firstName' | 'lastName' | 'properties'>

/** Links of a sample. They have no effect, so that a test does not unsubscribe a contact. */
const INERT_LINK = '#unsubscribe'
const INERT_VIEW = '#view'

/** @param contact is undefined for a reader of whom only the address is known */
export function sampleOf(
  broadcast: StoredBroadcast,
  address: string,
  contact: SampleContact | undefined,
  placeholders: Placeholders,
): Sample {
  const { id } = broadcast
  const template = compileTemplate(resolvedContent(broadcast, placeholders))
  const nobody = { email: address, firstName: null, lastName: null, properties: '{}' }
  const valueFor = valueFinder(contact ?? nobody)
  const values = template.variables.map(({ name }) => builtInValue(name, address, id) ?? valueFor(name))
  const filled = fillTemplate(template, values, PERSONAL_CHARACTERS_MAX)
  if (!filled.ok) throw new Error('a broadcast makes more than the limits of its parts allow')
  return { subject: filled.subject ?? '', html: filled.html, text: filled.text }
}

function builtInValue(name: string, address: string, id: Id): string | undefined {
  switch (builtInOf(name)) {
    case 'email':
      return address
    case 'broadcast_id':
      return wireId('brd', id)
    case 'unsubscribe_url':
      return INERT_LINK
    case 'view_in_browser_url':
      return INERT_VIEW
    default:
      return undefined
  }
}
