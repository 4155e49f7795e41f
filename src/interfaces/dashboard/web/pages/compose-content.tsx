/** Content of an email that is being written: text, HTML or a template, and its preview. */
import { compileTemplate } from '../../../../resources/templates/compile.ts'
import { declaredFallbacks } from '../../../../resources/templates/declared.ts'
import { type Rendering, renderTemplate } from '../../../../resources/templates/render.ts'
import type { ApiError } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { List, Template, TemplateRow, Version } from '../api/types.ts'
import { AreaField, Choices, Choose } from '../components/controls.tsx'
import type { Draft } from '../components/draft.tsx'
import { Failure } from '../components/feedback.tsx'
import { RenderedMail } from '../components/rendered.tsx'
import { useSettled } from '../components/settled.ts'
import { type ComposeFields, type Content, type UsedTemplate, valuesOf } from './compose-request.ts'
import { ValueFields } from './template-variables.tsx'

const SETTLED_MS = 350
const PREVIEW_CHARACTERS_MAX = 4 * 1024 * 1024
const CONTENTS = [
  ['text', 'Text'],
  ['html', 'HTML'],
  ['template', 'Template'],
] as const

/**
 * Loads the content of a template of which emails are made: that of its published version, if there is one.
 * @param id empty loads nothing
 */
export function useUsedTemplate(id: string): {
  template: UsedTemplate | undefined
  error: ApiError | undefined
} {
  const latest = useLoad<Template>(id === '' ? null : `/templates/${id}`)
  const number = latest.data?.published_version ?? null
  const published = useLoad<Version>(number === null ? null : `/templates/${id}/versions/${number}`)
  return {
    template: number === null ? latest.data : published.data,
    error: latest.error ?? published.error,
  }
}

interface ContentProps {
  draft: Draft<ComposeFields>
  template: UsedTemplate | undefined
  error: ApiError | undefined
}

export function ContentFields({ draft, template, error }: ContentProps) {
  const { content } = draft.value
  const textFault = error?.of('text')
  const htmlFault = error?.of('html')
  return (
    <>
      <div class="field">
        <h3>Content</h3>
        <Choices<Content>
          label="Content"
          value={content}
          options={CONTENTS}
          onValue={chosen => draft.change({ content: chosen })}
        />
      </div>
      {content === 'text' && (
        <AreaField label="Message" rows={12} {...draft.field('text')} fault={textFault ?? htmlFault} />
      )}
      {content === 'html' && (
        <>
          <AreaField label="HTML" code rows={16} {...draft.field('html')} fault={htmlFault} />
          <AreaField
            label="Text"
            code
            rows={6}
            hint="Plain-text version for email clients that do not show HTML. If it is empty, it is derived from the HTML."
            {...draft.field('text')}
            fault={textFault}
          />
        </>
      )}
      {content === 'template' && <TemplateFields draft={draft} template={template} error={error} />}
    </>
  )
}

function TemplateFields({ draft, template, error }: ContentProps) {
  const { template: id, values } = draft.value
  const list = useLoad<List<TemplateRow>>('/templates?limit=100')
  const { error: loadError } = useUsedTemplate(id)
  const rows = list.data?.data ?? []
  const { variables, spare } = template ? variablesOf(template) : { variables: [], spare: [] }
  return (
    <>
      <Choose
        label="Template"
        value={id}
        options={[['', 'Choose a template …'], ...rows.map(({ id: one, name }) => [one, name] as const)]}
        onValue={chosen => draft.change({ template: chosen })}
        fault={error?.of('template.id')}
      />
      {list.error && <Failure error={list.error} act="The templates could not be loaded" />}
      {loadError && <Failure error={loadError} act="The template could not be loaded" />}
      {variables.length > 0 && (
        <ValueFields
          variables={variables}
          spare={spare}
          values={values}
          onValues={changed => draft.change({ values: changed })}
          faults={Object.fromEntries(
            variables.map(({ name }) => [name, error?.of(`template.variables.${name}`)]),
          )}
        />
      )}
    </>
  )
}

function variablesOf(template: UsedTemplate) {
  const compiled = compileTemplate(template)
  const declared = template.variables.map(({ key, type, fallback_value: fallback }) => ({
    key,
    type,
    fallback,
  }))
  return {
    compiled,
    declared,
    variables: compiled.variables,
    spare: declaredFallbacks(declared, compiled.variables, {}),
  }
}

/** Shows HTML and templates as they are sent. Text needs no preview. */
export function ContentPreview({
  fields,
  template,
}: {
  fields: ComposeFields
  template: UsedTemplate | undefined
}) {
  const settled = useSettled(fields, SETTLED_MS)
  if (settled.content === 'text') return null
  const rendered = settled.content === 'html' ? written(settled) : template && filled(settled, template)
  return rendered ? <RenderedMail rendered={rendered} /> : null
}

function written({ subject, html, text }: ComposeFields): Rendering {
  return { ok: true, subject: subject || null, html: html || null, text: text || null }
}

/** Rendered by the same code as the email itself. */
function filled({ subject, values }: ComposeFields, template: UsedTemplate): Rendering {
  const { compiled, declared } = variablesOf(template)
  const rendered = renderTemplate(compiled, valuesOf(values, template), {
    ...{ declared, missing: 'blank' },
    maxCharacters: PREVIEW_CHARACTERS_MAX,
  })
  return rendered.ok && subject.trim() !== '' ? { ...rendered, subject } : rendered
}
