/** Preview of an email that is being edited. */
import { useState } from 'preact/hooks'
import { textPartOf } from '../../../../protocols/mime/html/text-part.ts'
import type { Rendering } from '../../../../resources/templates/render.ts'
import { hasDarkStyles } from '../labels/dark-styles.ts'
import { Preview, type PreviewLook } from './preview.tsx'
import { Card } from './show.tsx'
import { Tabs } from './tabs.tsx'

const LOOKS = [
  ['desktop', 'Desktop'],
  ['phone', 'Phone'],
  ['dark', 'Dark'],
  ['text', 'Text'],
] as const

interface RenderedMailProps {
  rendered: Rendering
  /** Whether the HTML is sent alone, without the text that is derived from it otherwise. */
  hasNoText?: boolean
  /** Name for screen readers where the page has another preview; that of the subject when absent. */
  label?: string
}

export function RenderedMail({ rendered, hasNoText = false, label }: RenderedMailProps) {
  const [look, setLook] = useState<PreviewLook | 'text'>('desktop')
  return (
    <Card title={rendered.ok && rendered.subject ? rendered.subject : 'Preview'} label={label} flush>
      <Tabs label="Preview format" tabs={LOOKS} chosen={look} onChoose={setLook} />
      {!rendered.ok && <p class="letter-text">The rendered email is too large.</p>}
      {rendered.ok && look === 'dark' && !hasDarkStyles(rendered.html ?? '') && (
        <p class="quiet small filters">
          The email has no dark styles. Some programs leave it as it is, others invert its colours like this.
        </p>
      )}
      {rendered.ok && look !== 'text' && (
        <Preview html={rendered.html ?? ''} title="Email preview" look={look} />
      )}
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
