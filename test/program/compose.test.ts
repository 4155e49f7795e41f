import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { runClient } from '../kit/sdk/clients.ts'
import { tempFolder } from '../kit/store.ts'
import { suite, type TestContext } from '../kit/suite.ts'

const test = suite('files of containers')
const root = join(import.meta.dirname, '../..')
const compose = readFileSync(join(root, 'compose.yaml'), 'utf8')
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')

/**
 * dclint has the schema of the Compose Specification; its rules of style are not ours.
 * @returns where a file differs from the schema
 */
async function schemaFaults(t: TestContext, text: string): Promise<string[]> {
  const { path } = await t.using(tempFolder())
  const file = join(path, 'compose.yaml')
  writeFileSync(file, text)
  const { output, errors } = await runClient('dclint/bin/dclint.cjs', [file, '--formatter', 'json'], {})
  assert.is(errors, '')
  const [found] = JSON.parse(output) as { messages: { rule: string; message: string }[] }[]
  return found!.messages.filter(({ rule }) => rule.startsWith('invalid-')).map(({ message }) => message)
}

test('compose.yaml agrees with the schema of the Compose Specification', async t => {
  assert.equal(await schemaFaults(t, compose), [])
  const wrong = await schemaFaults(t, compose.replace('stop_grace_period:', 'stop_grace:'))
  assert.is(wrong.length, 1)
  assert.match(wrong[0]!, /services\/mailhorn.*must NOT have additional properties/)
})

test('the Dockerfile has no fault', async t => {
  const { path } = await t.using(tempFolder())
  const file = join(path, 'Dockerfile')
  const lint = () => runClient('dockerfile-utils/bin/dockerfile-utils', ['lint', file], {})
  copyFileSync(join(root, 'Dockerfile'), file)
  const { code, output } = await lint()
  assert.equal([code, output.trim()], [0, ''])
  writeFileSync(file, dockerfile.replace('\nUSER ', '\nUSR '))
  assert.match((await lint()).output, /Unknown instruction: USR/)
})

test('compose.yaml keeps the volume of the image, and backups, outside of the container', () => {
  const [, volume] = /^VOLUME (.*)$/m.exec(dockerfile)!
  const mounted = [...compose.matchAll(/^ +- (\w+):(\/var\/(?:lib|backups)\/mailhorn)$/gm)]
  assert.equal(
    mounted.map(([, , path]) => path),
    [volume, '/var/backups/mailhorn'],
  )
  const named = compose.slice(compose.lastIndexOf('\nvolumes:\n'))
  for (const [, name] of mounted) assert.match(named, new RegExp(`^  ${name}:$`, 'm'))
})

test('compose.yaml publishes each port of the image under its own number', () => {
  const exposed = /^EXPOSE (.*)$/m.exec(dockerfile)![1]!.split(' ')
  const published = [...compose.matchAll(/^ +- "(?:[\d.]+:)?(\d+):(\d+)(\/\w+)?"$/gm)].map(
    ([, outside, inside, protocol = '']) => [outside, `${inside}${protocol}`],
  )
  assert.equal(published.map(([, port]) => port).sort(), [...exposed].sort())
  for (const [outside, port] of published) assert.is(outside, `${Number.parseInt(port!, 10)}`)
})

test.run()
