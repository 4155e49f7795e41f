/** Stores suppressions by the import of the service, where an address that is suppressed keeps its entry. */
import * as z from 'zod'
import { foldAddress, parseAddress } from '../../../protocols/smtp/address.ts'
import type { WriterOptions } from './report.ts'
import type { SourceSuppression } from './shapes.ts'

/** Entries of one request. */
const BATCH = 5_000
const listSchema = z.object({ data: z.array(z.object({ email: z.string() })) })
const importedSchema = z.object({
  added: z.number(),
  existing: z.number(),
  failed: z.number(),
  errors: z.array(z.object({ email: z.string().nullable(), message: z.string() })),
})

export function createSuppressionWriter({ service, report, isDryRun, clock }: WriterOptions) {
  const kind = report.of('suppressions')

  const store = async (entries: readonly SourceSuppression[]) => {
    if (entries.length === 0) return
    const data = entries.map(({ email, reason, at }) => ({
      email,
      reason,
      // a clock that is ahead is no reason to lose the entry
      ...(at !== null && at <= clock.now() && { created_at: new Date(at).toISOString() }),
    }))
    const stored = await service.send(importedSchema, 'POST', '/suppressions/import', { data })
    kind.madeCount += stored.added
    kind.existingCount += stored.existing
    for (const { email, message } of stored.errors) report.unmade('suppressions', email ?? '', message)
    kind.unmadeCount += stored.failed - stored.errors.length
  }

  return async (suppressions: AsyncIterable<SourceSuppression>): Promise<void> => {
    const there = new Set<string>()
    if (isDryRun)
      for (const { email } of (await service.get(listSchema, '/suppressions/export.json')).data)
        there.add(email)
    let waiting: SourceSuppression[] = []
    const flush = async () => {
      const entries = waiting
      waiting = []
      await store(entries)
    }
    try {
      for await (const entry of suppressions)
        if (isDryRun) countEntry(entry, there)
        else if (waiting.push(entry) === BATCH) await flush()
    } finally {
      // what was read stays, also if the provider fails before the end
      await flush()
    }
  }

  function countEntry({ email: text }: SourceSuppression, there: Set<string>): void {
    const address = parseAddress(text)
    if ('fault' in address) {
      report.unmade('suppressions', text, `The address ${address.fault}.`)
      return
    }
    const email = foldAddress(address.address)
    if (there.has(email)) kind.existingCount++
    else kind.madeCount++
    there.add(email)
  }
}
