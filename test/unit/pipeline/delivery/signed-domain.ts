/** A verified domain with real keys in a store, and what the maker of messages needs beside it. */

import type { Id } from '../../../../src/lib/ids.ts'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import { createKeyRing } from '../../../../src/pipeline/delivery/message/key-ring.ts'
import { createMessageMaker } from '../../../../src/pipeline/delivery/message/message.ts'
import { dkimRecord } from '../../../../src/protocols/dkim/keys.ts'
import { signHere } from '../../../../src/protocols/dkim/sign.ts'
import type { DomainWithKeys } from '../../../../src/resources/domains/domain-rows.ts'
import { createDomains } from '../../../../src/resources/domains/domains.ts'
import { readyKeys } from '../../../kit/dkim-keys.ts'
import { NO_LINK_HOSTS, testInquiries } from '../../../kit/inquiries.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import type { TestContext } from '../../../kit/suite.ts'

export const secrets = createSecretKeys(Buffer.alloc(32, 1))

export async function openSigned(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  const domains = createDomains({
    ...NO_LINK_HOSTS,
    ...store,
    clock: post.clock,
    newId,
    secrets,
    generateKey: readyKeys(),
    mailHost: 'mailhorn.test',
    inquiries: testInquiries(),
  })
  const keyRing = createKeyRing({ db: store.db, secrets, clock: post.clock })
  const maker = createMessageMaker({ ...store, secrets, keyRing, sign: signHere })
  /** Registers a domain and has it verified with the keys of these slots visible. */
  const verifiedDomain = async (name: string, visibleSlots = [1, 3], account: Id = accountId) => {
    const domain = await domains.create(account, name, 'us-west-2')
    if (typeof domain === 'string') throw new Error(domain)
    const { id } = domain
    const check = { accountId: account, id, at: post.clock.now(), visibleSlots, checks: '{}' }
    return (await store.run('recordDomainCheck', { ...check, outcome: 'good' }))!.domain
  }
  return { ...store, ...post, accountId, domains, keyRing, maker, verifiedDomain }
}

/** Returns a resolver with the DKIM records of a domain, for verifiers. */
export function keyResolver({ name, keys }: DomainWithKeys) {
  return async (requests: string): Promise<string[][]> => {
    const key = keys.find(({ token }) => requests === `${token}._domainkey.${name}`)
    if (!key) throw Object.assign(new Error(`no record at ${requests}`), { code: 'ENOTFOUND' })
    return [[dkimRecord(key.algorithm, key.publicKey)]]
  }
}
