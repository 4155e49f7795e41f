/** Words the links of a broadcast in the review before it is sent. */
import { builtInOf } from '../../../../resources/templates/variables.ts'
import type { BroadcastLint } from '../api/types.ts'
import { counted } from './numbers.ts'

type CheckedLink = BroadcastLint['links'][number]

const TAG_ALONE = /^\{\{\{?\s*([\w.]+)\s*(?:\|[^{}]*)?\}?\}\}$/

/** Leaves out links that the service makes for each recipient, such as `{{unsubscribe_url}}`. */
export function linksToOpen(links: readonly CheckedLink[]): CheckedLink[] {
  return links.filter(({ url }) => {
    const name = TAG_ALONE.exec(url.trim())?.[1]
    return name === undefined || builtInOf(name) === undefined
  })
}

/** Formats `3 links, 1 with problems. None was opened: open them once yourself.` */
export function linksWords(links: readonly CheckedLink[]): string {
  const faulty = links.filter(({ message }) => message !== null).length
  const few = `${counted(links.length, 'link')}${faulty === 0 ? '' : `, ${faulty} with problems`}`
  return links.length === 1
    ? `${few}. It was not opened: open it once yourself.`
    : `${few}. None was opened: open them once yourself.`
}
