/** Code of a call in curl, Node and Python, to copy. */
import { useState } from 'preact/hooks'
import { Choices, Copy } from '../components/controls.tsx'
import type { Operation } from './document.ts'
import { codeOf, LANGUAGES, type Language } from './snippets.ts'

export function Code({ operation }: { operation: Operation }) {
  const [language, setLanguage] = useState<Language>('curl')
  return (
    <section class="snippet">
      <Choices<Language> label="Language" value={language} options={LANGUAGES} onValue={setLanguage} />
      <Copy block label="Copy code" text={codeOf(language, operation, location.origin)} />
    </section>
  )
}
