import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { commandsFor, folder, sendEmail } from '../kit/backups.ts'
import { printedApiKey, startProgram } from '../kit/process.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

const test = suite('scheduled backups of the program', { limitMs: 300_000 })

test('killed in the middle of a backup, the service makes it at the next start and removes what was left', async t => {
  const parent = folder(t)
  const [dataDir, backups] = [join(parent, 'data'), join(parent, 'backups')]
  const settings = { DELIVERY_THREADS: '1', BACKUP_FOLDER: backups }
  const namesIn = (path: string) => (existsSync(path) ? readdirSync(path) : [])
  const killed = await t.using(startProgram({ dataDir, settings }))
  await sendEmail(killed, printedApiKey(killed), Buffer.alloc(100_000, 7))
  await until(() => namesIn(backups).length > 0)
  await killed.end('SIGKILL')
  // a kill at exactly the right moment cannot be timed: this is what it would leave
  rmSync(join(dataDir, 'backups.json'), { force: true })
  mkdirSync(join(backups, 'incomplete-20200101T000000Z'))
  writeFileSync(join(backups, 'incomplete-20200101T000000Z', 'mailhorn.db'), 'half of a database')
  const again = await t.using(startProgram({ dataDir, settings }))
  const made = await until(() => again.logs.find(({ event }) => event === 'backup_made'))
  assert.equal(
    namesIn(backups).filter(name => name.startsWith('incomplete-')),
    [],
  )
  const { done } = commandsFor(dataDir)
  assert.equal((await done(['verify', made.path as string])).faults, [])
})

test.run()
