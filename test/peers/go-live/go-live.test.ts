/**
 * Acts out docs/go-live.md from an empty server to a mailbox at Gmail: its commands, in its order, and
 * nothing that it does not say. Names of examples are replaced by one that can be registered. Not acted are
 * apt and systemd as the first process (dpkg and the settings of the unit take their place), and the
 * firewall: nothing is closed here.
 */
import { copyFileSync, globSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { shellBlocks } from '../../kit/doc-blocks.ts'
import { makePackages } from '../../kit/packages.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { rentVps } from './vps.ts'
import { type JudgedMessage, openWorld } from './world.ts'

const test = suite('go live')
const root = fileURLToPath(new URL('../../..', import.meta.url))
const DOMAIN = 'hornpost-story.org'
const ADDRESS = '46.4.10.7'
const REVERSE = '7.10.4.46'

let packages: string
test.before(() => {
  packages = makePackages()
})
test.after(() => rmSync(packages, { recursive: true }))

/** The blocks of the page, each of which is typed once. */
function commandsOfThePage(replacements: readonly [string, string][]) {
  const page = readFileSync(join(root, 'docs/go-live.md'), 'utf8')
  const left = shellBlocks(page).map(({ text }) =>
    replacements.reduce((filled, [from, to]) => filled.replaceAll(from, to), text),
  )
  return {
    /** The next block, which must contain the words. */
    next(words: string) {
      const block = left.shift() ?? ''
      assert.ok(block.includes(words), `the page goes on with ${block || 'nothing'}`)
      return block
    },
    rest: () => left,
  }
}

/** Lines of a zone file in the output of a command. */
function recordsIn(output: string): string[] {
  return output
    .split('\n')
    .map(line => line.trim())
    .filter(line => /^\S+\.\s+(?:NS|A|AAAA|TXT|CNAME|MX)\s/.test(line))
}

test('docs/go-live.md leads from an empty server to a mailbox at Gmail', async t => {
  const world = await openWorld(t, DOMAIN)
  const server = await world.internet.host(ADDRESS)
  const vps = await rentVps(t, server, world.authorities)
  const file = join(packages, globSync('*.deb', { cwd: packages })[0]!)
  copyFileSync(file, join(vps.root.path, 'root', basename(file)))
  const page = commandsOfThePage([
    ['mailhorn_0.1.0_amd64.deb', basename(file)],
    ['example.com', DOMAIN],
  ])
  const type = async (block: string) => {
    const { code, output } = await vps.type(block)
    assert.is(code, 0, `${block}\n${output}\n${vps.log().slice(-4_000)}`)
    return output
  }

  await type(page.next('apt install'))

  const init = page.next('mailhorn init')
  const early = await vps.type(init)
  assert.is(early.code, 1, early.output)
  for (const check of ['reverse_name', 'zone_delegation'])
    assert.match(early.output, new RegExp(`^FAILED +${check} `, 'm'))
  const delegation = recordsIn(early.output)
  await world.registry.put(DOMAIN, delegation)
  const [, address, name] = /^ +(\S+) {2}PTR {2}(\S+)$/m.exec(early.output)!
  assert.is(address, ADDRESS)
  await world.registry.put('in-addr.arpa', [`${REVERSE} 1 PTR ${name}`])
  await until(async () => (await vps.type(init)).code === 0)

  const started = await type(page.next('systemctl enable --now mailhorn'))
  assert.match(started, / 0 failed, /)
  const key = /API key: (\S+)/.exec(started)![1]!

  const added = await type(page.next('mailhorn domains add'))
  await world.registry.put(DOMAIN, [...delegation, ...recordsIn(added)])
  const test = page.next('mailhorn email test')
  const sent = await type(test)
  assert.match(sent, /^you@gmail\.com \(to\): delivered, 1 attempt\n.*: 250 2\.0\.0 OK gsmtp$/m)
  assertFlawless(world.judged[0], ['bulk', 'one_click'])

  const laptop = await world.internet.host('203.0.112.9')
  const curl = page.next('curl -s https://mail.').replace('re_…', key)
  assert.equal(page.rest(), [])
  const certificates = join(vps.root.path, 'etc/authorities.pem')
  const resolving = join(vps.root.path, 'etc/resolv.conf')
  laptop.run('mount', '--bind', resolving, '/etc/resolv.conf')
  assert.match(laptop.run('env', `CURL_CA_BUNDLE=${certificates}`, 'sh', '-euc', curl), /"id":"eml_/)
  await until(() => world.judged.length === 2)
  assertFlawless(world.judged[1], ['bulk', 'one_click'])

  await world.registry.put('in-addr.arpa', [])
  await until(() => laptop.run('kdig', '+short', '-x', ADDRESS) === '')
  const refused = await vps.type(test.replace('--wait ', ''))
  assert.is(refused.code, 1, refused.output)
  assert.match(
    refused.output,
    /^you@gmail\.com \(to\): bounced, 1 attempt\n {2}\S.*\n {2}\S.*\n.*550 5\.7\.25/m,
  )
})

/** Every check of the mailbox provider has passed, save for the named ones, which have not. */
function assertFlawless(message: JudgedMessage | undefined, but: readonly string[]) {
  assert.match(message?.reply ?? 'no message', /^250 /)
  const failed = Object.entries(message!.results).filter(([, passed]) => !passed)
  assert.equal(
    failed.map(([check]) => check),
    but,
  )
}

test.run()
