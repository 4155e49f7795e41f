/** Preview of an email that is being edited. */
import { useState } from 'preact/hooks'
import type { Rendering } from '../../../../resources/templates/render.ts'
import { Preview } from './preview.tsx'
import { Card } from './show.tsx'
import { Tabs } from './tabs.tsx'

const LOOKS = [
  ['html', 'HTML'],
  ['text', 'Text'],
] as const

export function RenderedMail({ rendered }: { rendered: Rendering }) {
  const [look, setLook] = useState<'html' | 'text'>('html')
  return (
    <Card title={rendered.ok && rendered.subject ? rendered.subject : 'Preview'} flush>
      <Tabs label="Preview format" tabs={LOOKS} chosen={look} onChoose={setLook} />
      {!rendered.ok && <p class="letter-text">The rendered email is too large.</p>}
      {rendered.ok && look === 'html' && <Preview html={rendered.html ?? ''} title="Email preview" />}
      {rendered.ok && look === 'text' && (
        <pre class="letter-text" dir="auto">
          {rendered.text ?? 'There is no text part.'}
        </pre>
      )}
    </Card>
  )
}
