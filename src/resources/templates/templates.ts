/**
 * Templates of an account: create, read, replace and restore. In: fields that the API has validated. Out:
 * stored templates and versions. The API routes call it; sending reads templates by `ready.ts`.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Id, IdSource } from '../../lib/ids.ts'
import type { Run } from '../../store/command.ts'
import type { FoundPage, ListPage } from '../../store/list-page.ts'
import type { Db } from '../../store/schema.ts'
import type { TemplateFields, templateCommands } from './commands.ts'
import {
  findTemplate,
  findVersion,
  listTemplates,
  listVersions,
  type StoredTemplate,
  type StoredVersion,
  type TemplateFacts,
  type VersionFacts,
} from './template-rows.ts'

/** Undefined or false means that the account has no such template or version. */
export interface Templates {
  create(accountId: Id, fields: TemplateFields): Promise<StoredTemplate>
  /** Newest first. With `search`, only templates whose name contains it are listed. */
  list(accountId: Id, page: ListPage & { search: string }): Promise<FoundPage<TemplateFacts>>
  find(accountId: Id, id: Id): Promise<StoredTemplate | undefined>
  /** The former state becomes a version if anything has changed. */
  replace(accountId: Id, id: Id, fields: TemplateFields): Promise<StoredTemplate | undefined>
  delete(accountId: Id, id: Id): Promise<boolean>
  /** Newest first. */
  versions(accountId: Id, id: Id): Promise<VersionFacts[] | undefined>
  version(accountId: Id, id: Id, version: number): Promise<StoredVersion | undefined>
  /** The former state becomes a version in any case. */
  restore(accountId: Id, id: Id, version: number): Promise<StoredTemplate | undefined>
}

interface TemplateOptions {
  db: Db
  run: Run<typeof templateCommands>
  clock: Clock
  newId: IdSource
}

export function createTemplates({ db, run, clock, newId }: TemplateOptions): Templates {
  return {
    create(accountId, fields) {
      const at = clock.now()
      return run('createTemplate', { accountId, id: newId(at), fields, at })
    },
    list: (accountId, page) => listTemplates(db, accountId, page),
    find: (accountId, id) => findTemplate(db, accountId, id),
    replace: (accountId, id, fields) => run('replaceTemplate', { accountId, id, fields, at: clock.now() }),
    delete: (accountId, id) => run('deleteTemplate', { accountId, id }),
    versions: (accountId, id) => listVersions(db, accountId, id),
    version: (accountId, id, version) => findVersion(db, accountId, id, version),
    restore: (accountId, id, version) => run('restoreTemplate', { accountId, id, version, at: clock.now() }),
  }
}
