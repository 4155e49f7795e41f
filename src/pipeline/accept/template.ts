/**
 * Applies the template that a submission names, to get the sender, reply addresses, subject and texts that
 * the submission does not give.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import type { Mailbox } from '../../protocols/smtp/address.ts'
import { TYPE_NAMES } from '../../resources/templates/declared.ts'
import { RENDERED_CHARACTERS_MAX } from '../../resources/templates/limits.ts'
import type { FindReadyTemplate, ReadyTemplate } from '../../resources/templates/ready.ts'
import { type Rendering, renderTemplate } from '../../resources/templates/render.ts'
import type { TemplateRef } from '../../resources/templates/template-rows.ts'
import type { Values } from '../../resources/templates/values.ts'
import { subjectFault } from './field-rules.ts'
import { type FieldProblem, type Refusal, refuseField } from './refusal.ts'
import type { Submission, TemplateUse } from './submission.ts'

/** The fields of a submission that a template may give. */
interface AppliedFields extends Pick<Submission, 'replyTo' | 'html' | 'text'> {
  from: Mailbox
  subject: string
  templateId: Id | null
  /** Paths of the given values that the template has no variable for; absent if there are none. */
  unusedValues?: string[]
}

export type ApplyTemplate = (submission: Submission) => Promise<AppliedFields | Refusal>

const NO_SENDER = refuseField(
  'missing_field',
  'from',
  'Missing `from` field: neither the request nor the template has one.',
)
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
export function createTemplateApplier(findTemplate: FindReadyTemplate, accountId: Id): ApplyTemplate {
  const found = new Map<string, Promise<ReadyTemplate | undefined>>()
  const find = (ref: TemplateRef) => {
    const key = 'alias' in ref ? `alias ${ref.alias}` : idKey(ref)
    const template = found.get(key) ?? findTemplate(accountId, ref)
    found.set(key, template)
    return template
  }
  return async submission => {
    const { from, replyTo, subject, html, text, template: use } = submission
    if (!use) {
      if (subject === null) return NO_SUBJECT
      return from === null ? NO_SENDER : { from, replyTo, subject, html, text, templateId: null }
    }
    const template = await find(use.ref)
    if (!template)
      return refuseField('unknown_template', use.fields.id, `Template not found (\`${use.fields.id}\`).`)
    const sender = from ?? template.from
    if (!sender) return NO_SENDER
    for (const part of ['subject', 'html', 'text'] as const) {
      const fault = submission[part] === null ? template.faults[part] : undefined
      if (fault)
        return refuseField('invalid_field', use.fields.id, `The \`${part}\` of the template ${fault}.`)
    }
    const rendering = render(template, submission, use.values)
    if (!rendering.ok) return refuseRendering(rendering, use)
    const texts = checkRendered({
      subject: subject ?? rendering.subject,
      html: html ?? rendering.html,
      text: text ?? rendering.text,
    })
    if ('refused' in texts) return texts
    const replies = replyTo.length > 0 ? replyTo : template.replyTo
    const unusedValues = unusedValuesOf(use, template)
    const unused = unusedValues.length > 0 && { unusedValues }
    return { from: sender, replyTo: replies, ...texts, templateId: template.id, ...unused }
  }
}

function unusedValuesOf({ values, fields }: TemplateUse, { valueKeys }: ReadyTemplate): string[] {
  return Object.keys(values)
    .filter(key => !valueKeys.has(key))
    .map(key => `${fields.values}.${key}`)
}

/**
 * Renders only what the submission does not give. Variables of the other parts of the template may be
 * missing.
 */
function render(
  { variables, declared, subject, html, text }: ReadyTemplate,
  own: Submission,
  values: Values,
): Rendering {
  const wanted = {
    variables,
    subject: own.subject === null ? subject : null,
    html: own.html === null ? html : null,
    text: own.text === null ? text : null,
  }
  return renderTemplate(wanted, values, {
    declared,
    missing: 'report',
    maxCharacters: RENDERED_CHARACTERS_MAX,
  })
}

function refuseRendering(rendering: Extract<Rendering, { ok: false }>, { fields }: TemplateUse): Refusal {
  if ('tooLarge' in rendering)
    return {
      refused: 'message_too_large',
      message: `The template rendered with \`${fields.values}\` must contain at most ${RENDERED_CHARACTERS_MAX} characters.`,
    }
  const { problems } = rendering
  const sentences = [
    sentenceOf('Missing template variables', problems, 'missing'),
    sentenceOf('Template variables that are objects or arrays', problems, 'not-a-text'),
    sentenceOf('Template variables of another type than declared', problems, 'wrong-type'),
  ].filter(sentence => sentence !== undefined)
  return {
    refused: 'invalid_field',
    message: `${sentences.join(' ')} Set their values in \`${fields.values}\`.`,
    errors: problems.map(problem => fieldProblemOf(problem, fields.values)),
  }
}

type VariableProblem = Extract<Rendering, { problems: unknown }>['problems'][number]

function sentenceOf(
  start: string,
  problems: readonly VariableProblem[],
  kind: VariableProblem['problem'],
): string | undefined {
  const names = problems.filter(({ problem }) => problem === kind).map(({ name }) => `\`${name}\``)
  return names.length === 0 ? undefined : `${start}: ${names.join(', ')}.`
}

function fieldProblemOf(problem: VariableProblem, field: string): FieldProblem {
  const { name } = problem
  const path = `${field}.${name}`
  switch (problem.problem) {
    case 'missing':
      return { path, message: `The template variable \`${name}\` has no value and no fallback.` }
    case 'not-a-text':
      return { path, message: `The template variable \`${name}\` must be a string, a number or a boolean.` }
    case 'wrong-type':
      return { path, message: `The template variable \`${name}\` must be ${TYPE_NAMES[problem.type]}.` }
  }
}

function checkRendered({
  subject,
  html,
  text,
}: Pick<Submission, 'subject' | 'html' | 'text'>):
  | Pick<AppliedFields, 'subject' | 'html' | 'text'>
  | Refusal {
  if (!subject) return NO_SUBJECT
  const fault = subjectFault(subject)
  if (fault) return refuseField('invalid_field', 'subject', `The rendered \`subject\` ${fault}.`)
  return html || text ? { subject, html, text } : NO_BODY
}
