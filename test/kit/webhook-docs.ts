/** The verification that docs/webhooks.md gives to receivers, as it stands there. */
import { readFileSync } from 'node:fs'

const docs = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')

/** The block of code in a language that comes last. */
export function snippet(language: string): string {
  const found = [...docs.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].at(-1)
  if (!found) throw new Error(`docs/webhooks.md has nothing in ${language}`)
  return found[1]!
}
