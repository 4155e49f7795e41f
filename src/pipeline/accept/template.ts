/**
 * Renders the template that a submission names, to get the subject and texts that the submission does not
 * give.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import { RENDERED_CHARACTERS_MAX } from '../../resources/templates/limits.ts'
import type { FindReadyTemplate, ReadyTemplate } from '../../resources/templates/ready.ts'
import { type Rendering, renderTemplate, type Values } from '../../resources/templates/render.ts'
import { subjectFault } from './field-rules.ts'
import { type Refusal, refuseField } from './refusal.ts'
import type { Submission, TemplateUse } from './submission.ts'

interface RenderedTexts {
  subject: string
  html: string | null
  text: string | null
}

export type RenderTexts = (submission: Submission) => Promise<RenderedTexts | Refusal>

const NO_SUBJECT = refuseField(
  'missing_field',
  'subject',
  'Missing `subject` field: neither the request nor the template has one.',
)
const NO_BODY = refuseField(
  'missing_field',
  'html',
  'Missing `html` or `text` field: neither the request nor the template has one.',
)

/**
 * Serves the submissions of one request. They all see one state of a template, even if it changes meanwhile.
 */
export function createTextRenderer(findTemplate: FindReadyTemplate, accountId: Id): RenderTexts {
  const found = new Map<string, Promise<ReadyTemplate | undefined>>()
  const find = (id: Id) => {
    const key = idKey(id)
    const template = found.get(key) ?? findTemplate(accountId, id)
    found.set(key, template)
    return template
  }
  return async submission => {
    const { subject, html, text, template: use } = submission
    if (!use) return subject === null ? NO_SUBJECT : { subject, html, text }
    const template = await find(use.id)
    if (!template)
      return refuseField('unknown_template', use.fields.id, `Template not found (\`${use.fields.id}\`).`)
    for (const part of ['subject', 'html', 'text'] as const) {
      const fault = submission[part] === null ? template.faults[part] : undefined
      if (fault)
        return refuseField('invalid_field', use.fields.id, `The \`${part}\` of the template ${fault}.`)
    }
    const rendering = render(template, submission, use.values)
    if (!rendering.ok) return refuseRendering(rendering, use)
    return checkRendered({
      subject: subject ?? rendering.subject,
      html: html ?? rendering.html,
      text: text ?? rendering.text,
    })
  }
}

/**
 * Renders only what the submission does not give. Variables of the other parts of the template may be
 * missing.
 */
function render(
  { variables, subject, html, text }: ReadyTemplate,
  own: Submission,
  values: Values,
): Rendering {
  const wanted = {
    variables,
    subject: own.subject === null ? subject : null,
    html: own.html === null ? html : null,
    text: own.text === null ? text : null,
  }
  return renderTemplate(wanted, values, { missing: 'report', mostCharacters: RENDERED_CHARACTERS_MAX })
}

function refuseRendering(rendering: Extract<Rendering, { ok: false }>, { fields }: TemplateUse): Refusal {
  if ('tooLarge' in rendering)
    return {
      refused: 'message_too_large',
      message: `The template rendered with \`${fields.values}\` must contain at most ${RENDERED_CHARACTERS_MAX} characters.`,
    }
  const missing = rendering.problems.filter(({ problem }) => problem === 'missing')
  const strange = rendering.problems.filter(({ problem }) => problem === 'not-a-text')
  const sentences = [
    ...(missing.length > 0 ? [`Missing template variables: ${namesOf(missing)}.`] : []),
    ...(strange.length > 0 ? [`Template variables that are objects or arrays: ${namesOf(strange)}.`] : []),
  ]
  return {
    refused: 'invalid_field',
    message: `${sentences.join(' ')} Set their values in \`${fields.values}\`.`,
    errors: rendering.problems.map(({ name, problem }) => ({
      path: `${fields.values}.${name}`,
      message:
        problem === 'missing'
          ? `The template variable \`${name}\` has no value and no fallback.`
          : `The template variable \`${name}\` must be a string, a number or a boolean.`,
    })),
  }
}

function namesOf(problems: readonly { name: string }[]): string {
  return problems.map(({ name }) => `\`${name}\``).join(', ')
}

function checkRendered({
  subject,
  html,
  text,
}: Pick<Submission, keyof RenderedTexts>): RenderedTexts | Refusal {
  if (!subject) return NO_SUBJECT
  const fault = subjectFault(subject)
  if (fault) return refuseField('invalid_field', 'subject', `The rendered \`subject\` ${fault}.`)
  return html || text ? { subject, html, text } : NO_BODY
}
