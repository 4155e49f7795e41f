/** Preview of an email that is being edited. */
import { useState } from 'preact/hooks'
import { textPartOf } from '../../../../protocols/mime/html/text-part.ts'
import type { Rendering } from '../../../../resources/templates/render.ts'
import { Preview } from './preview.tsx'
import { Card } from './show.tsx'
import { Tabs } from './tabs.tsx'

const LOOKS = [
  ['html', 'HTML'],
  ['text', 'Text'],
] as const

interface RenderedMailProps {
  rendered: Rendering
  /** Whether the HTML is sent alone, without the text that is derived from it otherwise. */
  hasNoText?: boolean
}

export function RenderedMail({ rendered, hasNoText = false }: RenderedMailProps) {
  const [look, setLook] = useState<'html' | 'text'>('html')
  return (
    <Card title={rendered.ok && rendered.subject ? rendered.subject : 'Preview'} flush>
      <Tabs label="Preview format" tabs={LOOKS} chosen={look} onChoose={setLook} />
      {!rendered.ok && <p class="letter-text">The rendered email is too large.</p>}
      {rendered.ok && look === 'html' && <Preview html={rendered.html ?? ''} title="Email preview" />}
      {rendered.ok && look === 'text' && (
        <pre class="letter-text" dir="auto">
          {textOf(rendered, hasNoText) ?? 'There is no text part.'}
        </pre>
      )}
    </Card>
  )
}

function textOf({ html, text }: Extract<Rendering, { ok: true }>, hasNoText: boolean): string | undefined {
  if (text !== null || hasNoText) return text ?? undefined
  return textPartOf(html ?? '')
}
