/** Rebuilds the newest messages of a store, to see that its contents are what was sent. */
import { randomBytes } from 'node:crypto'
import { wireId } from '../../../lib/ids.ts'
import { createSecretKeys, SECRET_BYTES_MIN, type SecretKeys } from '../../../lib/secret-keys.ts'
import { readEmailSource } from '../../../resources/emails/email-source.ts'
import type { Reader } from '../../../store/reading/read.ts'
import { createComposer } from './composed.ts'
import { rebuildMessage } from './rebuild.ts'

interface Sample {
  /** Number of messages that were rebuilt. */
  count: number
  /** Number of those whose signatures prove that they equal what was sent. */
  proven: number
  /** One line for each message that cannot be rebuilt. */
  faults: string[]
}

/** @param secrets null when the secret key is not known: signatures cannot be checked then */
export async function rebuildSample(
  { db, find, blobs }: Pick<Reader, 'db' | 'find' | 'blobs'>,
  secrets: SecretKeys | null,
  limit: number,
): Promise<Sample> {
  const deliveries = await db
    .selectFrom('deliveries')
    .select(['emailId', 'ordinal', 'accountId', 'address'])
    .orderBy('emailId', 'desc')
    .orderBy('ordinal')
    .limit(limit)
    .execute()
  const sample: Sample = { count: 0, proven: 0, faults: [] }
  const parts = { db, find, blobs, secrets: secrets ?? createSecretKeys(randomBytes(SECRET_BYTES_MIN)) }
  const compose = createComposer(parts)
  for (const { accountId, emailId, ordinal, address } of deliveries)
    try {
      const source = await readEmailSource(find, accountId, emailId)
      if (!source) throw new Error('its content is missing')
      const email = await compose(source)
      email.messageFor({ ordinal, address })
      const name = { accountId, emailId, ordinal }
      if (secrets && (await rebuildMessage(parts, name))?.fidelity === 'exact') sample.proven += 1
      sample.count += 1
    } catch (error) {
      sample.faults.push(`${wireId('eml', emailId)} cannot be rebuilt: ${(error as Error).message}`)
    }
  return sample
}
