/**
 * Stores contacts by the service's own import of files, which updates contacts that exist and never
 * subscribes one who has left. Every list of the provider is an audience with its name.
 */
import * as z from 'zod'
import { csvLine } from '../../../lib/csv.ts'
import { parseAddress } from '../../../protocols/smtp/address.ts'
import { NAME_CHARACTERS_MAX } from '../../../resources/contacts/limits.ts'
import {
  FIELD_COLUMNS,
  keyFault,
  nameFault,
  type PropertyValue,
  valueFault,
} from '../../../resources/contacts/properties.ts'
import { printable } from '../control/result.ts'
import { type Api, ApiFailure, byCursor } from './api.ts'
import type { ImportReport, WriterOptions } from './report.ts'
import type { SourceContact, SourceContacts } from './shapes.ts'
import { bySubscriptions, createTopicWriter, type WrittenTopics } from './topic-writer.ts'

/** Contacts of one file. */
const FILE_CONTACTS = 10_000

const audienceSchema = z.object({ id: z.string(), name: z.string() })
const importedSchema = z.object({ id: z.string() })
const rowNote = z.object({ email: z.string().nullable(), message: z.string() })
const detailsSchema = z.object({
  status: z.string(),
  error: z.string().nullable(),
  created: z.number(),
  updated: z.number(),
  unchanged: z.number(),
  failed: z.number(),
  errors: z.array(rowNote),
})

interface List {
  /** Null while the audience is only to be made. */
  id: string | null
  name: string
  isNew: boolean
  topics: WrittenTopics
  count: number
  unsubscribedCount: number
}

export function createContactWriter(options: WriterOptions) {
  const { service, report, isDryRun } = options
  const kind = report.of('contacts')
  const writeTopics = createTopicWriter(options)
  /** Values that the service would refuse, together with their contact. */
  const leftOut = new Map<string, number>()

  const listNamed = async (lists: Map<string, List>, text: string): Promise<List> => {
    const name = printable(text).trim().slice(0, NAME_CHARACTERS_MAX) || 'Unnamed'
    const former = lists.get(name)
    if (former) return former
    const id = isDryRun ? null : (await service.send(audienceSchema, 'POST', '/audiences', { name })).id
    const list = { id, name, isNew: true, topics: [], count: 0, unsubscribedCount: 0 }
    lists.set(name, list)
    return list
  }

  const store = async (list: List, contacts: readonly SourceContact[]) => {
    if (contacts.length === 0) return
    list.count += contacts.length
    list.unsubscribedCount += contacts.filter(({ unsubscribed }) => unsubscribed).length
    if (list.id === null || isDryRun) countValid(report, contacts)
    else
      for (const [subscriptions, group] of bySubscriptions(list.topics, contacts)) {
        const file = fileOf(group, leftOut)
        await storeIn(report, { service, id: list.id, name: list.name, subscriptions, file })
      }
  }

  return async (parts: AsyncIterable<SourceContacts>): Promise<void> => {
    const lists = await listsOf(service)
    let current: List | undefined
    let waiting: SourceContact[] = []
    const flush = async () => {
      const contacts = waiting
      waiting = []
      if (current) await store(current, contacts)
    }
    try {
      for await (const { list: name, topics, contacts } of parts) {
        const list = await listNamed(lists, name)
        if (list !== current) await flush()
        current = list
        if (topics) list.topics = await writeTopics(topics)
        waiting.push(...contacts)
        if (waiting.length >= FILE_CONTACTS) await flush()
      }
      await flush()
    } catch (error) {
      // what was read before stays, so that a provider that fails late does not cost all of it
      await flush()
      throw error
    } finally {
      for (const { name, isNew, count, unsubscribedCount } of lists.values())
        if (isNew || count > 0)
          kind.notes.push(
            `${isNew ? 'new audience' : 'audience'} ${name}: ${count} contacts, ${unsubscribedCount} of them unsubscribed`,
          )
      for (const [reason, count] of leftOut) kind.notes.push(`${count} values were left out: ${reason}`)
    }
  }
}

/** Reads the audiences of the account. Of several with a name, the oldest one is meant. */
async function listsOf(service: Api): Promise<Map<string, List>> {
  const lists = new Map<string, List>()
  for await (const page of byCursor(service, '/audiences', audienceSchema))
    for (const { id, name } of page)
      lists.set(name, { id, name, isNew: false, topics: [], count: 0, unsubscribedCount: 0 })
  return lists
}

/** Counts the contacts that an import would store. */
function countValid(report: ImportReport, contacts: readonly SourceContact[]): void {
  for (const { email } of contacts) {
    const address = parseAddress(email)
    if ('fault' in address) report.unmade('contacts', email, `the address ${address.fault}`)
    else report.of('contacts').madeCount++
  }
}

interface FileImport {
  service: Api
  /** Id and name of the audience. */
  id: string
  name: string
  subscriptions: readonly object[]
  file: ContactFile
}

/** @throws ApiFailure */
async function storeIn(report: ImportReport, file: FileImport): Promise<void> {
  const kind = report.of('contacts')
  const { created, updated, unchanged, failed, errors, error } = await importFile(file)
  kind.madeCount += created
  kind.existingCount += updated + unchanged
  for (const { email, message } of errors) report.unmade('contacts', email ?? '', message)
  kind.unmadeCount += failed - errors.length
  if (error !== null) throw new ApiFailure(`The import into ${file.name} stopped: ${error}`, null)
}

interface ContactFile {
  keys: readonly string[]
  csv: string
}

/** Formats contacts as a file with a column for each property. */
function fileOf(contacts: readonly SourceContact[], leftOut: Map<string, number>): ContactFile {
  const omit = (reason: string) => {
    leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1)
    return null
  }
  const rows = contacts.map(({ email, firstName, lastName, unsubscribed, properties }) => {
    const values = new Map<string, PropertyValue>()
    for (const [text, value] of Object.entries(properties)) {
      const key = text.trim()
      const fault = keyFault(key)
      if (fault) omit(`the name of the property ${text} ${fault}`)
      else {
        const property = propertyOf(key, value, omit)
        if (property !== null) values.set(key, property)
      }
    }
    const name = (part: string, text: string | null) => {
      const fault = text === null ? undefined : nameFault(oneLine(text))
      return fault ? omit(`a ${part} ${fault}`) : text && oneLine(text)
    }
    const fields = [email, name('first name', firstName), name('last name', lastName), unsubscribed]
    return { fields, values }
  })
  const keys = [...new Set(rows.flatMap(({ values }) => [...values.keys()]))]
  const lines = rows.map(({ fields, values }) =>
    csvLine([...fields, ...keys.map(key => values.get(key) ?? null)]),
  )
  return { keys, csv: csvLine([...FIELD_COLUMNS, ...keys]) + lines.join('') }
}

function propertyOf(key: string, value: unknown, omit: (reason: string) => null): PropertyValue | null {
  if (value === null || value === undefined || value === '') return null
  const isList = Array.isArray(value) && value.every(entry => typeof entry !== 'object')
  const plain = isList ? value.join(', ') : value
  if (typeof plain === 'number' || typeof plain === 'boolean') return plain
  if (typeof plain !== 'string') return omit(`${key} is an object`)
  const text = oneLine(plain)
  const fault = valueFault(text)
  return fault ? omit(`${key} ${fault}`) : text
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\0]+/g, ' ').toWellFormed()
}

/**
 * Imports a file into an audience. All columns are named, so that no property is taken for a sign of who has
 * left: the provider itself has told that.
 * @throws ApiFailure
 */
async function importFile({ service, id: audience, subscriptions, file: { keys, csv } }: FileImport) {
  const map = {
    ...Object.fromEntries(FIELD_COLUMNS.map(column => [column, column])),
    properties: Object.fromEntries(keys.map(key => [key, { column: key }])),
  }
  const form = new FormData()
  form.append('file', new Blob([csv], { type: 'text/csv' }), 'contacts.csv')
  form.append('column_map', JSON.stringify(map))
  form.append('on_conflict', 'upsert')
  form.append('segments', JSON.stringify([{ id: audience }]))
  if (subscriptions.length > 0) form.append('topics', JSON.stringify(subscriptions))
  const { id } = await service.send(importedSchema, 'POST', '/contacts/imports', form)
  return service.get(detailsSchema, `/audiences/${audience}/imports/${id}`)
}
