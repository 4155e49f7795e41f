import * as assert from 'uvu/assert'
import type { CommandInput } from '../../../../../src/interfaces/cli/command.ts'
import { importCliCommands } from '../../../../../src/interfaces/cli/import-commands.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('cli/import/options')

/** @returns the error of an import that has no keys, so that it never asks a server */
async function refusal(values: Record<string, string>) {
  const command = importCliCommands.find(({ name }) => name === 'import resend')!
  const input = {
    values,
    importSettings: () => ({
      serviceUrl: 'http://127.0.0.1:3000',
      variable: () => undefined,
      clock: createManualClock(),
    }),
    readInput: async () => '',
    say() {},
  } as unknown as CommandInput
  return Promise.resolve()
    .then(() => command.run(input))
    .then(
      () => assert.unreachable() as never,
      error => (error as Error).message,
    )
}

for (const option of ['from', 'service'])
  for (const [url, says] of [
    ['ftp://there.example', `--${option} must be an http or https URL; got "ftp://there.example"`],
    ['there.example', `--${option} must be an http or https URL; got "there.example"`],
    ['https://ann:secret@there.example', `--${option} must not contain a password`],
    ['https://ann@there.example', `--${option} must not contain a password`],
  ] as const)
    test(`import: --${option} ${url} is refused`, async () => {
      assert.is(await refusal({ [option]: url }), says)
    })

for (const url of ['http://127.0.0.1:1', 'https://there.example'])
  test(`import: ${url} is taken, and the keys are what is missing`, async () => {
    assert.match(await refusal({ from: url, service: url }), /RESEND_API_KEY/)
  })

for (const [provider, usage] of [
  ['resend', '[--from <url>]'],
  ['listmonk', '--from <url>'],
  ['postal', '--from <folder>'],
] as const)
  test(`import: ${provider} is read from ${usage}`, () => {
    const command = importCliCommands.find(({ name }) => name === `import ${provider}`)!
    assert.ok(command.usage.includes(` ${usage}`), command.usage)
  })

test('import: a kind that does not exist is refused', async () => {
  assert.match(await refusal({ only: 'domains, letters' }), /^--only: "letters" is none of domains, /)
})

test.run()
