/** Templates over a store, for tests that give only the fields that matter to them. */
import * as assert from 'uvu/assert'
import { ALIAS_TAKEN, type TemplateFields } from '../../src/resources/templates/commands.ts'
import type { StoredTemplate } from '../../src/resources/templates/template-rows.ts'
import { createTemplates, type Templates } from '../../src/resources/templates/templates.ts'
import { newId } from './mail.ts'

type Fields = Partial<TemplateFields>

interface TestTemplates extends Omit<Templates, 'create'> {
  /** Fields that are not given are null. */
  create(accountId: Uint8Array, fields: Fields, alias?: string): Promise<StoredTemplate>
  /** As PUT does it. */
  replace(accountId: Uint8Array, id: Uint8Array, fields: Fields): Promise<StoredTemplate | undefined>
  /** As PATCH does it. */
  draft(accountId: Uint8Array, id: Uint8Array, fields: Fields): Promise<StoredTemplate | undefined>
}

const EMPTY: TemplateFields = {
  ...{ name: 'n', subject: null, html: null, text: null },
  ...{ sender: null, replyToList: null, variables: null },
}

export function templatesOver(options: Omit<Parameters<typeof createTemplates>[0], 'newId'>): TestTemplates {
  const templates = createTemplates({ ...options, newId })
  const named = <T>(answer: T | typeof ALIAS_TAKEN): T => {
    assert.is.not(answer, ALIAS_TAKEN)
    return answer as T
  }
  return {
    ...templates,
    create: async (accountId, fields, alias = undefined) =>
      named(await templates.create(accountId, { ...EMPTY, ...fields }, alias ?? null)),
    replace: async (accountId, id, fields) =>
      named(await templates.change(accountId, id, { fields, isLive: true })),
    draft: async (accountId, id, fields) =>
      named(await templates.change(accountId, id, { fields, isLive: false })),
  }
}
