/** Templates over a store, for tests that give only the fields that matter to them. */
import * as assert from 'uvu/assert'
import type { Clock } from '../../src/lib/clock.ts'
import type { Id, IdSource } from '../../src/lib/ids.ts'
import {
  ALIAS_TAKEN,
  type TemplateChange,
  type TemplateFields,
  type templateCommands,
} from '../../src/resources/templates/commands.ts'
import {
  findTemplate,
  findVersion,
  listTemplates,
  listVersions,
  resolveTemplate,
  type StoredTemplate,
  type TemplateRef,
} from '../../src/resources/templates/template-rows.ts'
import type { Run } from '../../src/store/model/command.ts'
import type { Db } from '../../src/store/model/schema.ts'
import type { ListPage } from '../../src/store/reading/list-page.ts'
import { newId } from './mail.ts'

type Fields = Partial<TemplateFields>

interface TestTemplates extends Omit<ReturnType<typeof createTemplates>, 'create'> {
  /** Fields that are not given are null. */
  create(accountId: Uint8Array, fields: Fields, alias?: string): Promise<StoredTemplate>
  /** Replaces all fields, as PUT does. */
  replace(accountId: Uint8Array, id: Uint8Array, fields: Fields): Promise<StoredTemplate | undefined>
  /** Changes the given fields, as PATCH does. */
  draft(accountId: Uint8Array, id: Uint8Array, fields: Fields): Promise<StoredTemplate | undefined>
}

const EMPTY: TemplateFields = {
  ...{ name: 'n', subject: null, html: null, text: null },
  ...{ sender: null, replyToList: null, variables: null },
}

interface TemplateOptions {
  db: Db
  run: Run<typeof templateCommands>
  clock: Clock
  newId: IdSource
}

/** Calls the commands and queries of templates as the routes do. */
export function createTemplates({ db, run, clock, newId }: TemplateOptions) {
  return {
    create(accountId: Id, fields: TemplateFields, alias: string | null = null) {
      const at = clock.now()
      return run('createTemplate', { accountId, id: newId(at), fields, alias, at })
    },
    list: (accountId: Id, page: ListPage & { search: string }) => listTemplates(db, accountId, page),
    resolve: (accountId: Id, ref: TemplateRef) => resolveTemplate(db, accountId, ref),
    find: (accountId: Id, id: Id) => findTemplate(db, accountId, id),
    change: (accountId: Id, id: Id, change: TemplateChange) =>
      run('changeTemplate', { accountId, id, ...change, at: clock.now() }),
    publish: (accountId: Id, id: Id) => run('publishTemplate', { accountId, id, at: clock.now() }),
    duplicate(accountId: Id, id: Id) {
      const at = clock.now()
      return run('duplicateTemplate', { accountId, id, copyId: newId(at), at })
    },
    delete: (accountId: Id, id: Id) => run('deleteTemplate', { accountId, id }),
    versions: (accountId: Id, id: Id) => listVersions(db, accountId, id),
    version: (accountId: Id, id: Id, version: number) => findVersion(db, accountId, id, version),
    restore: (accountId: Id, id: Id, version: number) =>
      run('restoreTemplate', { accountId, id, version, at: clock.now() }),
  }
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
