/** Runs an import: one kind after the other, suppressions before contacts, and a report at the end. */
import type { Clock } from '../../../lib/clock.ts'
import { type CliResult, CommandError } from '../control/result.ts'
import { type Api, ApiFailure } from './api.ts'
import { ImportReport } from './report.ts'
import { type ImportSource, KINDS, type Kind } from './shapes.ts'
import { createWriter, type Writer } from './writer.ts'

export interface ImportRunOptions {
  /** Name of the provider in aliases, such as `resend`. */
  provider: string
  /** Name of the provider for people. */
  title: string
  source: ImportSource
  service: Api
  kinds: ReadonlySet<Kind>
  isDryRun: boolean
  clock: Clock
  say(text: string): void
}

/** @throws CommandError if a key is refused */
export async function runImport(options: ImportRunOptions): Promise<CliResult> {
  const { provider, title, source, service, kinds, isDryRun, clock, say } = options
  const report = new ImportReport(title, isDryRun)
  const writer = createWriter({ service, report, isDryRun, provider, clock })
  const failures: ApiFailure[] = []
  const read = KINDS.filter(kind => kinds.has(kind) && source[kind])
  for (const kind of read) {
    say(`${isDryRun ? 'Reading' : 'Importing'} ${kind} …`)
    try {
      await write(writer, source, kind)
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error
      if (error.status === 401) throw error
      failures.push(error)
      report.of(kind).failure = error.message
    }
  }
  if (failures.length > 0 && failures.length === read.length && failures.every(({ isDenied }) => isDenied))
    throw new CommandError(failures[0]!.message)
  report.notes.push(...(await notesOf(source)))
  return report.result()
}

/** The types of the reader and of the writer are those of the same kind. */
async function write(writer: Writer, source: ImportSource, kind: Kind): Promise<void> {
  if (kind === 'domains') await writer.domains(source.domains!())
  else if (kind === 'suppressions') await writer.suppressions(source.suppressions!())
  else if (kind === 'templates') await writer.templates(source.templates!())
  else if (kind === 'contacts') await writer.contacts(source.contacts!())
  else await writer.webhooks(source.webhooks!())
}

async function notesOf(source: ImportSource): Promise<readonly string[]> {
  try {
    return (await source.notes?.()) ?? []
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
    return [`What else the account has could not be read: ${error.message}`]
  }
}
