/**
 * Rotates DKIM keys on schedule or on request, in steps over several days. The customer's CNAMEs point to the
 * provider zone, so that no action of the customer is needed. All state is in the store, so that an
 * interrupted rotation continues after a restart. Called by the maintenance jobs of `app`.
 */
import type { Clock } from '../../lib/clock.ts'
import { type IdSource, wireId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import { type DkimKeyFacts, type DomainInTurns, listDomainsInTurns } from './domain-rows.ts'
import { type GenerateKey, sealedKey } from './domains.ts'
import { type KeyStep, stepsDue } from './key-life.ts'
import { isPublic, type VisibilityOptions } from './key-visibility.ts'
import type { rotationCommands } from './rotation-commands.ts'

interface RotationOptions extends VisibilityOptions {
  db: Db
  run: Run<typeof rotationCommands>
  clock: Clock
  newId: IdSource
  secrets: SecretKeys
  generateKey: GenerateKey
  mailHost: string
  /** Maximum time for which a key signs; null means no limit. */
  rotateAfterMs: number | null
  /** Time for which sent mail can be shown; null means forever. */
  shownForMs: number | null
  log: Log
}

const DOMAINS_PER_PAGE = 200
const BEFORE_ALL = new Uint8Array(16)

/** Executes all due steps of all domains. Yields after every page and every domain with a step. */
export async function* rotateKeys(options: RotationOptions): AsyncGenerator<void> {
  const { shownForMs } = options
  if (shownForMs !== null)
    await options.run('destroyKeys', { retiredBefore: options.clock.now() - shownForMs })
  let after: Uint8Array = BEFORE_ALL
  for (;;) {
    const page = await listDomainsInTurns(options.db, after, DOMAINS_PER_PAGE)
    for (const domain of page) {
      const { clock, rotateAfterMs } = options
      const steps = stepsDue(domain.keys, { now: clock.now(), wantedAt: domain.wantedAt, rotateAfterMs })
      for (const step of steps) await take(options, domain, step)
      if (steps.length > 0) yield
    }
    if (page.length < DOMAINS_PER_PAGE) return
    after = page.at(-1)!.id
    yield
  }
}

async function take(options: RotationOptions, { id: domainId, name }: DomainInTurns, step: KeyStep) {
  const { run, clock, log } = options
  const logKey = (event: string, { token, id }: DkimKeyFacts, what: string) =>
    log.info(
      { event, domain: name, selector: token, key: wireId('key', id) },
      `DKIM key ${token} of ${name} ${what}`,
    )
  const entering = step.kind === 'switch' ? step.to : step.kind === 'begin' ? step.key : undefined
  if (entering && !(await isPublic(placeOf(entering, name, options), options)))
    return logKey('dkim_key_not_visible', entering, 'is not used yet: not every resolver returns its record')
  const at = clock.now()
  switch (step.kind) {
    case 'switch': {
      const { from, to } = step
      if (await run('switchKeys', { domainId, from: from.id, to: to.id, at }))
        logKey('dkim_key_activated', to, 'signs now, in place of the previous key')
      return
    }
    case 'begin':
      if (await run('beginKey', { domainId, key: step.key.id, at }))
        logKey('dkim_key_activated', step.key, 'signs now')
      return
    case 'revoke':
      if (await run('revokeKey', { domainId, key: step.key.id, at }))
        logKey('dkim_key_revoked', step.key, 'is revoked')
      return
    case 'replace': {
      const { id: old, slot, algorithm, token } = step.key
      const key = await sealedKey(options, domainId, { slot, algorithm, token }, at)
      if (await run('replaceKey', { old, key }))
        logKey('dkim_key_published', key, 'is published as the next key')
    }
  }
}

function placeOf({ token, publicKey }: DkimKeyFacts, domain: string, { mailHost }: RotationOptions) {
  return { host: `${token}._domainkey.${domain}`, target: `${token}.dkim.${mailHost}`, publicKey }
}
