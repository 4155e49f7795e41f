/** Template editor with a live preview and test values. */
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { compileTemplate } from '../../../../resources/templates/compile.ts'
import { renderTemplate } from '../../../../resources/templates/render.ts'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Template } from '../api/types.ts'
import { AreaField, Button, TextField } from '../components/controls.tsx'
import { confirm, useAct } from '../components/dialog.tsx'
import { DraftNotice, DraftState, useDraft } from '../components/draft.tsx'
import { Failure, say, Waiting } from '../components/feedback.tsx'
import { RenderedMail } from '../components/rendered.tsx'
import { Card, Head, Time } from '../components/show.tsx'
import type { PageProps } from '../shell/page.ts'
import { VersionsDialog } from './versions.tsx'

interface TemplateText {
  name: string
  subject: string
  html: string
  text: string
}

const CHARACTERS_MAX = 4 * 1024 * 1024
const SETTLED_MS = 350

export function TemplatePage({ params: { id } }: PageProps) {
  const template = useLoad<Template>(`/templates/${id}`)
  if (!template.data)
    return template.error ? <Failure error={template.error} retry={template.reload} /> : <Waiting />
  return <Editor key={template.data.id} template={template.data} put={template.put} />
}

function textOf({ name, subject, html, text }: Template): TemplateText {
  return { name, subject: subject ?? '', html: html ?? '', text: text ?? '' }
}

function Editor({ template, put }: { template: Template; put: (template: Template) => void }) {
  const [, navigate] = useLocation()
  const draft = useDraft(`template.${template.id}`, textOf(template), template.updated_at)
  const [isLookingBack, setLookingBack] = useState(false)
  const save = useAct(async () => {
    const sent = draft.now()
    const { name, subject, html, text } = sent
    const body = { name, subject: subject || null, html: html || null, text: text || null }
    const saved = await call<Template>('PUT', `/templates/${template.id}`, body)
    draft.settle(sent, textOf(saved), saved.updated_at)
    put(saved)
    say('Template saved. The previous version was kept.')
  })
  const remove = () =>
    confirm({
      title: `Delete ${template.name}?`,
      text: 'All its versions will be deleted, and API requests that use it will fail. Sent emails are not affected. This cannot be undone.',
      act: 'Delete template',
      async work() {
        await call('DELETE', `/templates/${template.id}`)
        draft.discard()
        say('The template was deleted.')
        navigate('/templates')
      },
    })
  return (
    <>
      <Head
        title={template.name}
        from={['/templates', 'Templates']}
        lead={
          <>
            Template ID: <span class="mono">{template.id}</span>. Updated <Time at={template.updated_at} />.
          </>
        }
      >
        <Button icon="trash" label="Delete template" onClick={remove} />
        <Button icon="clock" onClick={() => setLookingBack(true)}>
          Versions
        </Button>
        <DraftState draft={draft} />
        <Button kind="main" disabled={!draft.isChanged || save.isBusy} onClick={() => void save.run()}>
          {draft.isChanged ? 'Save template' : 'Saved'}
        </Button>
      </Head>
      {save.error && <Failure error={save.error} act="The template was not saved" />}
      <DraftNotice draft={draft} what="template" />
      <div class="editor">
        <Writing draft={draft.value} onDraft={draft.set} faultOf={path => save.error?.of(path)} />
        <Result draft={draft.value} />
      </div>
      {isLookingBack && (
        <VersionsDialog template={template} onClose={() => setLookingBack(false)} onRestored={put} />
      )}
    </>
  )
}

interface WritingProps {
  draft: TemplateText
  onDraft: (draft: TemplateText) => void
  faultOf: (path: string) => string | undefined
}

function Writing({ draft, onDraft, faultOf }: WritingProps) {
  const field = (name: keyof TemplateText) => ({
    value: draft[name],
    onValue: (value: string) => onDraft({ ...draft, [name]: value }),
    fault: faultOf(name),
  })
  return (
    <Card>
      <div class="stack">
        <TextField label="Name" {...field('name')} />
        <TextField label="Subject" {...field('subject')} />
        <AreaField label="HTML" code rows={16} {...field('html')} />
        <AreaField
          label="Text"
          code
          rows={8}
          hint="Plain-text version for email clients that do not show HTML. If it is empty, it is derived from the HTML."
          {...field('text')}
        />
      </div>
    </Card>
  )
}

/** Rendered by the same code as the email itself. */
function Result({ draft }: { draft: TemplateText }) {
  const settled = useSettled(draft)
  const [values, setValues] = useState<Record<string, string>>({})
  const compiled = compileTemplate({
    subject: settled.subject || null,
    html: settled.html || null,
    text: settled.text || null,
  })
  const filled = nested(Object.entries(values).filter(([, value]) => value !== ''))
  const rendered = renderTemplate(compiled, filled, { missing: 'blank', mostCharacters: CHARACTERS_MAX })
  return (
    <div class="stack">
      <RenderedMail rendered={rendered} />
      {compiled.variables.length > 0 && (
        <Card title="Test values" lead="Values for the preview. The API request sets the real ones.">
          <div class="stack">
            {compiled.variables.map(({ name, fallback }) => (
              <TextField
                key={name}
                label={name}
                placeholder={fallback ?? 'required when sending'}
                value={values[name] ?? ''}
                onValue={value => setValues({ ...values, [name]: value })}
              />
            ))}
          </div>
        </Card>
      )}
    </div>
  )
}

/** Converts dotted names such as `user.name` to nested objects. */
function nested(entries: readonly (readonly [string, string])[]): Record<string, unknown> {
  const root: Record<string, unknown> = Object.create(null)
  for (const [name, value] of entries) {
    const path = name.split('.')
    let place = root
    for (const key of path.slice(0, -1)) {
      const next = Object.hasOwn(place, key) ? place[key] : undefined
      place = place[key] =
        typeof next === 'object' && next !== null ? (next as Record<string, unknown>) : Object.create(null)
    }
    place[path.at(-1)!] = value
  }
  return root
}

/** Returns the draft after a pause in typing. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
