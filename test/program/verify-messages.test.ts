import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import { LARGE_BYTES, PASSPHRASE, sendEmail, startScene } from '../kit/backups.ts'
import { databaseOf } from '../kit/database.ts'
import { verifyDomain } from '../kit/process.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { startZone } from '../kit/zone.ts'

const test = suite('mailhorn verify: messages', { limitMs: 240_000 })
const PASSWORD = 'correct-horse-battery'
const env = { MAILHORN_BACKUP_PASSPHRASE: PASSPHRASE }
/** More than a sample holds. */
const SENT_COUNT = 24
const SAMPLE_COUNT = 20

test('the newest messages are rebuilt from the backup of either database, and equal what was sent', async t => {
  const zone = await t.using(startZone(''))
  const settings = { ADMIN_PASSWORD: PASSWORD, DNS_RESOLVERS: zone.server }
  const { program, token, done, type, send, backups, dataDir } = await startScene(t, settings)
  await verifyDomain(program, zone, { name: 'here.example', password: PASSWORD })
  const database = databaseOf(dataDir)
  const ids: string[] = []
  for (let i = 0; i < SENT_COUNT - 1; i++)
    ids.push(await sendEmail(program, token, randomBytes(100), { subject: `Grüße \t\\x ${i}` }))
  ids.push(await send(randomBytes(LARGE_BYTES)))
  for (const id of ids)
    await until(
      async () => (await program.call('GET', `/emails/${id}`, { token })).body.last_event === 'delivered',
    )
  await done(['backup', backups, '--with-secret-key'], { env })
  const whole = await done(['verify', backups], { env })
  assert.equal([whole.faults, whole.messages], [[], { rebuilt: SAMPLE_COUNT, proven: SAMPLE_COUNT }])

  const newest = 'select max(id) from emails'
  database.change(`update emails set subject = 'another' where id = (${newest})`)
  await done(['backup', backups, '--with-secret-key'], { env })
  const changed = await done(['verify', backups], { env })
  assert.equal([changed.faults, changed.messages], [[], { rebuilt: SAMPLE_COUNT, proven: SAMPLE_COUNT - 1 }])

  database.change(`delete from contents where id = (select content_id from emails where id = (${newest}))`)
  await done(['backup', backups, '--with-secret-key'], { env })
  const { code, out } = await type(['verify', backups], { env })
  assert.is(code, 1)
  assert.is(out, `${ids.at(-1)} cannot be rebuilt: its content is missing\n`)
})

test.run()
