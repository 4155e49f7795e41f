/** Code of a call in several languages, to copy. The choice of the language is remembered in the browser. */
import { signal } from '@preact/signals'
import { LANGUAGES, type Language, type SampleCall, sampleOf } from '../labels/code-samples.ts'
import { Choices, Copy } from './controls.tsx'

const KEY = 'mailhorn.language'
const stored = localStorage.getItem(KEY)
const language = signal<Language>(LANGUAGES.find(([id]) => id === stored)?.[0] ?? 'curl')

function choose(next: Language): void {
  language.value = next
  localStorage.setItem(KEY, next)
}

export function CodeSamples({ call }: { call: SampleCall }) {
  return (
    <div class="snippet">
      <Choices<Language> label="Language" value={language.value} options={LANGUAGES} onValue={choose} />
      <Copy block label="Copy code" text={sampleOf(language.value, call)} />
    </div>
  )
}
