import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { startScene } from '../kit/backups.ts'
import { SQLITE_ONLY } from '../kit/database.ts'
import { type S3Call, startFakeS3 } from '../kit/fake-s3.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

const test = suite('mailhorn backup to S3', { limitMs: 240_000 })
const LARGE_BYTES = 9_000_000

/** Requests at which the process is killed: before the store has answered them, or after. */
const MOMENTS: [name: string, isMoment: (call: S3Call) => boolean][] = [
  ['the lock', ({ method, key }) => method === 'PUT' && key.endsWith('lock')],
  ['a file', ({ method, key, query }) => method === 'PUT' && key.includes('/blobs/') && query.size === 0],
  ['a part of a large file', ({ query }) => query.get('partNumber') === '2'],
  ['the database', ({ method, key }) => method === 'PUT' && key.endsWith('.db')],
  ['the manifest', ({ method, key }) => method === 'PUT' && key.endsWith('manifest.json')],
  ['the removal of an old backup', ({ method, key }) => method === 'DELETE' && key.endsWith('manifest.json')],
]

test(
  'killed at any step, it leaves nothing that restore takes for whole, and the next backup is complete',
  async t => {
    const store = await t.using(startFakeS3())
    const { done, type, send, parent } = await startScene(t)
    const bucket = 's3://backups/mail'
    const { env } = store
    await send()
    const first = await done(['backup', bucket], { env })
    for (const [name, isMoment] of MOMENTS) {
      await send()
      await send(randomBytes(LARGE_BYTES))
      let child: ChildProcess | undefined
      store.instead = call => {
        if (!isMoment(call)) return undefined
        child?.kill('SIGKILL')
        return 'break'
      }
      const args = ['backup', bucket, '--keep', '1']
      const { code } = await type(args, {
        env,
        onStart: started => {
          child = started
        },
      })
      assert.is(code, null, `killed at ${name}`)
      store.instead = () => undefined
      const found = await done(['verify', bucket], { env })
      assert.equal(found.faults, [], name)
      const whole = await done(['restore', bucket, '--into', join(parent, name)], { env })
      assert.is(whole.created_at, found.created_at)
    }
    const last = await done(['backup', bucket, '--keep', '1'], { env })
    assert.equal((await done(['verify', bucket], { env })).faults, [])
    const backups = new Set([...store.objects.keys()].map(key => key.split('/')[1]))
    assert.equal([...backups].sort(), [last.path.slice(bucket.length + 1), 'blobs'])
    assert.equal([store.uploads.size, first.blobs.count], [0, 1])
  },
  SQLITE_ONLY,
)

test(
  'on a schedule, a backup is made, and a wrong key is an alert',
  async t => {
    const store = await t.using(startFakeS3())
    const settings = Object.fromEntries(
      Object.entries({ ...store.env, MAILHORN_BACKUP_FOLDER: 's3://backups/daily/' }).map(([name, value]) => [
        name.slice('MAILHORN_'.length),
        value,
      ]),
    )
    const { program } = await startScene(t, settings)
    const made = await until(() => program.logs.find(({ event }) => event === 'backup_made'))
    assert.match(made.path as string, /^s3:\/\/backups\/daily\/\d{8}T\d{6}Z$/)
    const wrong = await startScene(t, { ...settings, BACKUP_S3_SECRET_ACCESS_KEY: 'another' })
    const failed = await until(() => wrong.program.logs.find(({ event }) => event === 'backup_failed'))
    assert.match(
      failed.reason as string,
      /^the backup to s3:\/\/backups\/daily failed: the store refuses the key/,
    )
  },
  SQLITE_ONLY,
)

test.run()
