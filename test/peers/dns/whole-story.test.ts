/**
 * The life of a sending domain among real servers: the customer's zone at knot, our own behind unbound, a
 * message that dkimpy verifies by what it finds there, and keys that change without anybody's help.
 */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { freePort } from '../../kit/free-port.ts'
import { type DnsRecordView, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { runPython, temporaryFolder, writeMessages } from '../mail-format/tools.ts'
import { runKnot } from './run-knot.ts'
import { runUnbound } from './run-unbound.ts'

const test = suite('peers/dns: the whole story of a domain')
/** Not among the reserved names: there the keys themselves need not be seen. */
const MAIL_HOST = 'mail.mailhorn-story.net'
const SHOP = 'shop-story.org'
const THERE = 'there-story.org'
const DAY_MS = 86_400_000

/** Knows these zones and nobody else, so that no question leaves the host. */
function unboundConfig(stubs: Record<string, string>): string {
  const names = Object.keys(stubs)
  return `
  module-config: "iterator"
  qname-minimisation: yes
  use-caps-for-id: yes
  harden-glue: yes
  harden-below-nxdomain: yes
  cache-max-ttl: 1
  cache-max-negative-ttl: 1
  local-zone: "." refuse
${names.map(name => `  local-zone: "${name}." transparent`).join('\n')}
remote-control:
  control-enable: no
${names.map(name => `stub-zone:\n  name: "${name}"\n  stub-addr: ${stubs[name]}\n`).join('')}`
}

async function openStory(t: TestContext) {
  const knot = await runKnot(t, '127.0.0.10', [SHOP, THERE])
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  await knot.put(THERE, ['@ MX 10 mx', 'mx A 127.0.0.2'])
  const dnsPort = await freePort()
  const atKnot = `${knot.host}@${knot.port}`
  const { server } = await runUnbound(t, () =>
    unboundConfig({ [SHOP]: atKnot, [THERE]: atKnot, [MAIL_HOST]: `127.0.0.1@${dnsPort}` }),
  )
  const mailhorn = await t.using(
    startMailhorn({
      dns: true,
      mxPort: mx.port,
      env: {
        MAILHORN_MAIL_HOST: MAIL_HOST,
        MAILHORN_DNS_LISTEN: `127.0.0.1:${dnsPort}`,
        MAILHORN_DNS_ADDRESSES: '192.0.2.1',
        MAILHORN_DNS_RESOLVERS: server,
        MAILHORN_DNS_AUTHORITY_PORT: String(knot.port),
        MAILHORN_ADMIN_EMAIL: 'admin@mailhorn.test',
      },
    }),
  )
  const session = await mailhorn.signIn()
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await mailhorn.call(method, path, { session, ...(body !== undefined && { body }) })
    assert.ok(answer.status < 300, JSON.stringify(answer.body))
    return answer.body
  }
  return { knot, mx, mailhorn, call, server }
}

/** Returns the records as lines of a customer's zone file. */
function linesOf(records: readonly DnsRecordView[], nameOf = (host: string) => `${host}.`): string[] {
  return records.map(({ type, host, value, priority = '' }) => {
    const data = type === 'TXT' ? `"${value}"` : `${value}.`
    return `${nameOf(host)} ${type} ${priority} ${data}`
  })
}

/** Verifies a message with dkimpy, which looks the keys up with unbound. */
async function verdicts(t: TestContext, message: Buffer, server: string): Promise<string[]> {
  const folder = await temporaryFolder(t)
  await writeMessages(folder, [message])
  const script = new URL('../delivery/verify_over_dns.py', import.meta.url).href
  const packages = 'python3-dkim, python3-nacl and python3-dnspython'
  return (await runPython(script, [join(folder, '0.eml'), server], packages)) as string[]
}

const selectorsIn = (message: Buffer) =>
  [...message.toString('latin1').matchAll(/^DKIM-Signature:.*?\bs=([a-z2-7]+);/gms)].map(([, s]) => s)

test('registered, put right, verified, used, and given new keys, while old mail stays good', async t => {
  const { knot, mx, mailhorn, call, server } = await openStory(t)
  const verify = () => call('POST', `/domains/${domain.id}/verify`)
  const arrived = async (count: number) => {
    await until(() => mx.messages.length === count)
    return mx.messages.at(-1)!.data
  }
  const mail = { from: `shop@${SHOP}`, to: `ann@${THERE}`, subject: 'Hello', text: 'Hello' }
  const domain = await call('POST', '/domains', { name: SHOP })

  const empty = await verify()
  assert.equal([empty.status, empty.checks.ownership.problems[0].code], ['pending', 'missing'])
  assert.equal(
    empty.checks.name_servers.servers.map(({ name, status }: Record<string, string>) => `${name} ${status}`),
    [`ns1.${SHOP} answers`],
  )

  await knot.put(
    SHOP,
    linesOf(domain.records, host => host),
  )
  const doubled = await verify()
  assert.is(doubled.status, 'pending')
  for (const check of [
    doubled.checks.ownership,
    ...doubled.checks.dkim.selectors,
    doubled.checks.spf,
    doubled.checks.mx,
  ])
    assert.is(check.problems[0].code, 'doubled_zone', check.advice)

  await knot.put(SHOP, linesOf(domain.records))
  const verified = await until(async () => {
    const answer = await verify()
    return answer.status === 'verified' && answer.checks.dkim.status === 'verified' ? answer : undefined
  })
  const { ownership, dkim, spf, mx: returnPath, name_servers: servers } = verified.checks
  for (const check of [ownership, ...dkim.selectors, spf, returnPath]) {
    assert.equal([check.status, check.advice], ['verified', null], JSON.stringify(check))
    assert.equal(
      check.name_servers.map(({ status }: { status: string }) => status),
      ['verified'],
    )
  }
  assert.is(servers.status, 'verified')

  await mailhorn.send(mail)
  const first = await arrived(1)
  assert.equal(await verdicts(t, first, server), ['pass', 'pass'])

  // both RSA keys have been out for long enough
  for (const table of ['domains', 'dkim_keys'])
    mailhorn.change(`update ${table} set created_at = created_at - ?`, 3 * DAY_MS)
  await call('POST', `/domains/${domain.id}/rotate-keys`)
  await until(
    () =>
      mailhorn.rows('select token from dkim_keys where slot = 2 and active_from is not null').length === 1,
  )
  await mailhorn.send(mail)
  const second = await arrived(2)
  assert.equal(await verdicts(t, second, server), Array(selectorsIn(second).length).fill('pass'))
  const fresh = selectorsIn(second).filter(selector => !selectorsIn(first).includes(selector))
  assert.equal(fresh, [domain.records[2].value.split('.')[0]])

  assert.equal(await verdicts(t, first, server), ['pass', 'pass'], 'old mail still verifies')
  const again = await verify()
  assert.equal([again.status, again.checks.dkim.status], ['verified', 'verified'])

  await knot.put(SHOP, [])
  await until(async () => {
    const { status, checks } = await verify()
    return status === 'temporary_failure' && checks.ownership.problems[0].code === 'missing'
  })
})

test.run()
