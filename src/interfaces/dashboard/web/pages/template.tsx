/** Template editor with drafts, a live preview and test values. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { compileTemplate } from '../../../../resources/templates/compile.ts'
import { declaredFallbacks } from '../../../../resources/templates/declared.ts'
import { renderTemplate } from '../../../../resources/templates/render.ts'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Template } from '../api/types.ts'
import { AreaField, Button, LinkButton, TextField } from '../components/controls.tsx'
import { confirmRemoval, useAct } from '../components/dialog.tsx'
import { DraftNotice, DraftState, useDraft } from '../components/draft.tsx'
import { Failure, Pending, say } from '../components/feedback.tsx'
import type { PageProps } from '../components/page.ts'
import { RenderedMail } from '../components/rendered.tsx'
import { useSettled } from '../components/settled.ts'
import { Card, Head, Mark, Time } from '../components/show.tsx'
import { emailsWith } from '../labels/places.ts'
import { TestTemplate, UseTemplate } from './template-use.tsx'
import {
  declaredOf,
  nested,
  requestVariables,
  ValueFields,
  VariablesCard,
  type VariableText,
  variableTextsOf,
} from './template-variables.tsx'
import { VersionsDialog } from './versions.tsx'

interface TemplateText {
  name: string
  alias: string
  from: string
  /** One address a line. */
  replyTo: string
  subject: string
  html: string
  text: string
  variables: VariableText[]
}

const CHARACTERS_MAX = 4 * 1024 * 1024
const SETTLED_MS = 350

export function TemplatePage({ params: { id } }: PageProps) {
  const template = useLoad<Template>(`/templates/${id}`)
  if (!template.data) return <Pending of={template} />
  return <Editor key={template.data.id} template={template.data} put={template.put} />
}

function textOf(template: Template): TemplateText {
  const { name, alias, from, reply_to: replyTo, subject, html, text } = template
  return {
    ...{ name, alias: alias ?? '', from: from ?? '', replyTo: (replyTo ?? []).join('\n') },
    ...{ subject: subject ?? '', html: html ?? '', text: text ?? '' },
    variables: variableTextsOf(template),
  }
}

function emailTextOf({ subject, html, text }: TemplateText) {
  return { subject: subject || null, html: html || null, text: text || null }
}

function linesOf(text: string): string[] {
  return text.split('\n').filter(line => line.trim() !== '')
}

/** A published template is saved as a draft. */
function requestOf(draft: TemplateText) {
  const { name, alias, from, replyTo, variables } = draft
  return {
    ...{ name, alias: alias.trim(), from: from.trim(), ...emailTextOf(draft) },
    reply_to: linesOf(replyTo),
    variables: requestVariables(variables),
    publish: false,
  }
}

interface EditorProps {
  template: Template
  put: (template: Template) => void
}

/** Returns the draft of a template, and the actions on both. */
function useEditor({ template, put }: EditorProps) {
  const [, navigate] = useLocation()
  const draft = useDraft(`template.${template.id}`, textOf(template), template.updated_at)
  const path = `/templates/${template.id}`
  const store = async (): Promise<Template> => {
    const sent = draft.now()
    const saved = await call<Template>('PUT', path, requestOf(sent))
    draft.settle(sent, textOf(saved), saved.updated_at)
    put(saved)
    return saved
  }
  const save = useAct(async () => {
    const { published_version: published } = await store()
    const advice = published === null ? '' : ' Publish the template to use it in emails.'
    say(`Template saved. The previous version was kept.${advice}`)
  })
  const publish = useAct(async () => {
    if (draft.isChanged) await store()
    put(await call<Template>('POST', `${path}/publish`))
    say('Template published. Emails use it from now on.')
  })
  const duplicate = useAct(async () => {
    const copy = await call<Template>('POST', `${path}/duplicate`)
    say('Template duplicated. This is the copy.')
    navigate(`/templates/${copy.id}`)
  })
  const remove = () =>
    confirmRemoval('template', {
      name: template.name,
      path,
      text: 'All its versions will be deleted, and API requests that use it will fail. Sent emails are not affected. This cannot be undone.',
      onRemoved() {
        draft.discard()
        navigate('/templates')
      },
    })
  return { draft, save, publish, duplicate, remove }
}

function Editor({ template, put }: EditorProps) {
  const { draft, save, publish, duplicate, remove } = useEditor({ template, put })
  const [isLookingBack, setLookingBack] = useState(false)
  return (
    <>
      <Head
        title={template.name}
        from={['/templates', 'Templates']}
        lead={
          <>
            <PublishedState template={template} /> Template ID: <span class="mono">{template.id}</span>.
            Updated <Time at={template.updated_at} />.
          </>
        }
      >
        <Button icon="trash" label="Delete template" onClick={remove} />
        <LinkButton href={emailsWith({ template_id: template.id })} icon="emails">
          View emails
        </LinkButton>
        <Button icon="clock" onClick={() => setLookingBack(true)}>
          Versions
        </Button>
        <Button icon="copy" disabled={duplicate.isBusy} onClick={() => void duplicate.run()}>
          Duplicate
        </Button>
        <DraftState draft={draft} />
        <Button kind="main" saves disabled={!draft.isChanged || save.isBusy} onClick={() => void save.run()}>
          {draft.isChanged ? 'Save template' : 'Saved'}
        </Button>
        {template.has_unpublished_versions && (
          <Button disabled={publish.isBusy} onClick={() => void publish.run()}>
            Publish
          </Button>
        )}
      </Head>
      {save.error && <Failure error={save.error} act="The template was not saved" />}
      {publish.error && <Failure error={publish.error} act="The template was not published" />}
      {duplicate.error && <Failure error={duplicate.error} act="The template was not duplicated" />}
      <DraftNotice draft={draft} what="template" />
      <div class="editor">
        <Writing draft={draft.value} onDraft={draft.set} faultOf={path => save.error?.of(path)} />
        <Result template={template} draft={draft.value} />
      </div>
      {isLookingBack && (
        <VersionsDialog template={template} onClose={() => setLookingBack(false)} onRestored={put} />
      )}
    </>
  )
}

function PublishedState({ template }: { template: Template }) {
  const { status, published_version: published } = template
  if (status === 'draft')
    return (
      <Mark tone="none" title="Not published yet: emails use the latest saved text.">
        Draft
      </Mark>
    )
  if (published === null) return <Mark tone="good">Published</Mark>
  return (
    <Mark tone="warn" title={`Emails use version ${published} until you publish the template.`}>
      Unpublished changes
    </Mark>
  )
}

interface WritingProps {
  draft: TemplateText
  onDraft: (draft: TemplateText) => void
  faultOf: (path: string) => string | undefined
}

function Writing({ draft, onDraft, faultOf }: WritingProps) {
  const field = (name: Exclude<keyof TemplateText, 'variables'>, path: string = name) => ({
    value: draft[name],
    onValue: (value: string) => onDraft({ ...draft, [name]: value }),
    fault: faultOf(path),
  })
  return (
    <div class="stack">
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
      <VariablesCard
        texts={emailTextOf(draft)}
        variables={draft.variables}
        onVariables={variables => onDraft({ ...draft, variables })}
        faultOf={faultOf}
      />
      <Card title="Defaults" lead="For emails that do not set these fields themselves.">
        <div class="stack">
          <TextField label="From" placeholder="Acme <hello@acme.com>" {...field('from')} />
          <AreaField label="Reply-To" rows={2} hint="One address a line." {...field('replyTo', 'reply_to')} />
          <TextField
            label="Alias"
            placeholder="welcome-email"
            hint="A name that API requests can use in place of the template ID."
            {...field('alias')}
          />
        </div>
      </Card>
    </div>
  )
}

/** Rendered by the same code as the email itself. */
function Result({ template, draft }: { template: Template; draft: TemplateText }) {
  const [isTesting, setTesting] = useState(false)
  const settled = useSettled(draft, SETTLED_MS)
  const [values, setValues] = useState<Record<string, string>>({})
  const compiled = compileTemplate(emailTextOf(settled))
  const declared = declaredOf(settled.variables)
  const filled = nested(Object.entries(values).filter(([, value]) => value !== ''))
  const rendered = renderTemplate(compiled, filled, {
    ...{ declared, missing: 'blank' },
    maxCharacters: CHARACTERS_MAX,
  })
  const spare = declaredFallbacks(declared, compiled.variables, {})
  return (
    <div class="stack">
      <RenderedMail rendered={rendered} />
      <div class="row">
        <Button icon="emails" disabled={!rendered.ok} onClick={() => setTesting(true)}>
          Send test email
        </Button>
      </div>
      {compiled.variables.length > 0 && (
        <Card title="Test values" lead="Values for the preview. The API request sets the real ones.">
          <ValueFields variables={compiled.variables} spare={spare} values={values} onValues={setValues} />
        </Card>
      )}
      <UseTemplate {...{ template, declared, values }} variables={compiled.variables} />
      {isTesting && rendered.ok && (
        <TestTemplate
          rendered={rendered}
          from={draft.from}
          replyTo={linesOf(draft.replyTo)}
          onClose={() => setTesting(false)}
        />
      )}
    </div>
  )
}
