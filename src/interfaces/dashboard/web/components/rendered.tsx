/** A mail that is being written, as it will be read. */
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
      <Tabs label="The mail as" tabs={LOOKS} chosen={look} onChoose={setLook} />
      {!rendered.ok && <p class="letter-text">It becomes too large.</p>}
      {rendered.ok && look === 'html' && (
        <Preview html={rendered.html ?? ''} title="The mail as its reader sees it" />
      )}
      {rendered.ok && look === 'text' && (
        <pre class="letter-text">{rendered.text ?? 'There is no text.'}</pre>
      )}
    </Card>
  )
}
