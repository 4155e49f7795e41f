/**
 * Templates of an account: create, read, change, publish and restore. In: fields that the API has validated.
 * Out: stored templates and versions. The API routes call it; sending reads templates by `ready.ts`.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Id, IdSource } from '../../lib/ids.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import type { FoundPage, ListPage } from '../../store/reading/list-page.ts'
import type { ALIAS_TAKEN, TemplateChange, TemplateFields, templateCommands } from './commands.ts'
import {
  findTemplate,
  findVersion,
  listTemplates,
  listVersions,
  resolveTemplate,
  type StoredTemplate,
  type StoredVersion,
  type TemplateFacts,
  type TemplateRef,
  type VersionFacts,
} from './template-rows.ts'

type AliasTaken = typeof ALIAS_TAKEN

/** Undefined or false means that the account has no such template or version. */
export interface Templates {
  create(accountId: Id, fields: TemplateFields, alias?: string | null): Promise<StoredTemplate | AliasTaken>
  /** Newest first. With `search`, only templates whose name contains it are listed. */
  list(accountId: Id, page: ListPage & { search: string }): Promise<FoundPage<TemplateFacts>>
  /** Finds the id of the template that has an alias. The id of a template stands for itself. */
  resolve(accountId: Id, ref: TemplateRef): Promise<Id | undefined>
  find(accountId: Id, id: Id): Promise<StoredTemplate | undefined>
  /** The former content becomes a version if anything has changed. */
  change(accountId: Id, id: Id, change: TemplateChange): Promise<StoredTemplate | AliasTaken | undefined>
  publish(accountId: Id, id: Id): Promise<StoredTemplate | undefined>
  duplicate(accountId: Id, id: Id): Promise<StoredTemplate | undefined>
  delete(accountId: Id, id: Id): Promise<boolean>
  /** Newest first. */
  versions(accountId: Id, id: Id): Promise<VersionFacts[] | undefined>
  version(accountId: Id, id: Id, version: number): Promise<StoredVersion | undefined>
  /** The former content becomes a version in any case. */
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
    create(accountId, fields, alias = null) {
      const at = clock.now()
      return run('createTemplate', { accountId, id: newId(at), fields, alias, at })
    },
    list: (accountId, page) => listTemplates(db, accountId, page),
    resolve: (accountId, ref) => resolveTemplate(db, accountId, ref),
    find: (accountId, id) => findTemplate(db, accountId, id),
    change: (accountId, id, change) => run('changeTemplate', { accountId, id, ...change, at: clock.now() }),
    publish: (accountId, id) => run('publishTemplate', { accountId, id, at: clock.now() }),
    duplicate(accountId, id) {
      const at = clock.now()
      return run('duplicateTemplate', { accountId, id, copyId: newId(at), at })
    },
    delete: (accountId, id) => run('deleteTemplate', { accountId, id }),
    versions: (accountId, id) => listVersions(db, accountId, id),
    version: (accountId, id, version) => findVersion(db, accountId, id, version),
    restore: (accountId, id, version) => run('restoreTemplate', { accountId, id, version, at: clock.now() }),
  }
}
