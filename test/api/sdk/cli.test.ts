import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { CLI_COMMANDS, OTHER_COMMANDS } from '../../kit/sdk/cli-commands.ts'
import { runClient } from '../../kit/sdk/clients.ts'
import { assertDocumented, inLanes, outcomesText } from '../../kit/sdk/page.ts'
import { openSdkWorld } from '../../kit/sdk/world.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('the official command line', { limitMs: 600_000 })
const PROGRAM = 'resend-cli/dist/cli.cjs'

interface Command {
  name: string
  subcommands: Command[]
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-cli-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function namesOf({ name, subcommands }: Command, above = ''): string[] {
  const path = `${above}${name}`
  if (OTHER_COMMANDS.includes(path)) return []
  return subcommands.length === 0 ? [path] : subcommands.flatMap(command => namesOf(command, `${path} `))
}

test('every command that calls the API is known here', async t => {
  const { output } = await runClient(PROGRAM, ['commands'], { HOME: folderOf(t) })
  const { subcommands } = JSON.parse(output) as Command
  const names = subcommands.flatMap(command => namesOf(command))
  assert.equal(names.sort(), Object.keys(CLI_COMMANDS).sort())
})

test('docs/sdks.md says of each command whether it works', async t => {
  const world = await openSdkWorld(t)
  const folder = folderOf(t)
  const env = { HOME: folder, RESEND_API_KEY: world.credential, RESEND_BASE_URL: world.mailhorn.baseUrl }
  const refusals = new Map<string, string>()
  await inLanes(Object.entries(CLI_COMMANDS), async ([name, makeArguments]) => {
    const args = [...name.split(' '), ...(await makeArguments(world, folder)), '--json']
    const { code, output, errors } = await runClient(PROGRAM, args, env)
    if (code === 0) JSON.parse(output)
    refusals.set(name, code === 0 ? '' : world.plain(messageOf(errors)))
  })
  const outcomes = Object.keys(CLI_COMMANDS).map(name => ({ name, refusal: refusals.get(name)! }))
  assertDocumented('commands of the command line', outcomesText('commands', outcomes))
})

/** Returns the message of a failed command: it prints JSON, after a line of the package that it uses. */
function messageOf(errors: string): string {
  const found = /^\{\n {2}"error": \{.*/ms.exec(errors)
  return found ? (JSON.parse(found[0]) as { error: { message: string } }).error.message : errors
}

test.run()
