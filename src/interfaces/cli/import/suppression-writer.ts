/** Stores suppressions in batches. Addresses that are suppressed already keep their entry. */
import * as z from 'zod'
import { foldAddress, isAddressPattern, parseAddress } from '../../../protocols/smtp/address.ts'
import { byCursor } from './api.ts'
import type { WriterOptions } from './report.ts'
import type { SourceSuppression } from './shapes.ts'

const BATCH = 100
const entrySchema = z.object({ id: z.string(), email: z.string() })

export function createSuppressionWriter({ service, report, isDryRun }: WriterOptions) {
  return async (suppressions: AsyncIterable<SourceSuppression>): Promise<void> => {
    const kind = report.of('suppressions')
    const there = new Set<string>()
    for await (const page of byCursor(service, '/suppressions', entrySchema))
      for (const { email } of page) there.add(email)
    const waiting = new Map<SourceSuppression['reason'], string[]>()
    const flush = async (reason: SourceSuppression['reason']) => {
      const emails = waiting.get(reason) ?? []
      waiting.delete(reason)
      if (emails.length === 0) return
      if (!isDryRun) await service.send(z.unknown(), 'POST', '/suppressions/batch/add', { emails, reason })
      kind.madeCount += emails.length
    }
    for await (const { email: text, reason } of suppressions) {
      const address = parseAddress(text)
      if ('fault' in address || isAddressPattern(address.address)) {
        report.unmade(
          'suppressions',
          text,
          'fault' in address ? `the address ${address.fault}` : 'is a pattern',
        )
        continue
      }
      const email = foldAddress(address.address)
      if (there.has(email)) {
        kind.existingCount++
        continue
      }
      there.add(email)
      const batch = waiting.get(reason) ?? []
      waiting.set(reason, batch)
      if (batch.push(email) === BATCH) await flush(reason)
    }
    for (const reason of [...waiting.keys()]) await flush(reason)
  }
}
