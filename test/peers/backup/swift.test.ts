import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/lib/clock.ts'
import { S3Bucket } from '../../../src/protocols/s3/bucket.ts'
import { type S3Options, S3Requests } from '../../../src/protocols/s3/requests.ts'
import { PASSPHRASE, startScene } from '../../kit/backups.ts'
import { SQLITE_ONLY } from '../../kit/database.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { startRelay } from './relay.ts'
import { runSwift, SWIFT_KEY, SWIFT_REGION, whySwiftIsMissing } from './run-swift.ts'

const test = suite('backup to OpenStack Swift by its S3 API', { limitMs: 240_000 })
const options = { ...SQLITE_ONLY, ...(SQLITE_ONLY.skip === undefined && { skip: whySwiftIsMissing() }) }
const PART_BYTES = 8 * 1024 * 1024
/** Sent in three parts. */
const LARGE_BYTES = 18_000_000
const BUCKET = 'backups'
const PLACE = `s3://${BUCKET}/mail`

/** Requests at which the process is killed while Swift receives them. */
const MOMENTS: [name: string, request: RegExp][] = [
  ['a part of a large file', /^PUT \S+partNumber=2&/],
  ['the end of a large file', /^POST \S+\?uploadId=/],
  ['the manifest', /^PUT \S+\/manifest\.json /],
  ['the removal of an old backup', /^DELETE \S+\/manifest\.json /],
]

/** A store with a bucket, and what looks into it. */
async function startStore(t: TestContext) {
  const swift = await t.using(runSwift())
  const relay = await t.using(startRelay(swift.url))
  const at: S3Options = {
    ...{ endpoint: swift.url, region: SWIFT_REGION, bucket: BUCKET, ...SWIFT_KEY },
    clock: systemClock,
  }
  await new S3Requests(at).send({ method: 'PUT', key: '' })
  return {
    relay,
    env: {
      MAILHORN_BACKUP_PASSPHRASE: PASSPHRASE,
      MAILHORN_BACKUP_S3_ENDPOINT: relay.url,
      MAILHORN_BACKUP_S3_REGION: SWIFT_REGION,
      MAILHORN_BACKUP_S3_ACCESS_KEY_ID: SWIFT_KEY.accessKeyId,
      MAILHORN_BACKUP_S3_SECRET_ACCESS_KEY: SWIFT_KEY.secretAccessKey,
    },
    keys: () => Array.fromAsync(new S3Bucket(at).keys('')),
    /** Total of all objects, with the parts of uploads that were not finished. */
    storedBytes: () => swift.sizes().reduce((sum, size) => sum + size, 0),
  }
}

/** @returns hashes of the files in `blobs/`, which are their names */
function blobsIn(dataDir: string): string[] {
  return readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true })
    .filter(each => each.isFile())
    .map(each => each.name)
    .sort()
}

test(
  'the second backup uploads what is new, a restored one has all of it, and old ones are removed',
  async t => {
    const { env, keys, storedBytes } = await startStore(t)
    const { done, send, parent, dataDir } = await startScene(t)
    await send(randomBytes(LARGE_BYTES))
    const first = await done(['backup', PLACE, '--with-secret-key'], { env })
    assert.equal([first.blobs.count, first.blobs.added], [1, 1])
    assert.ok(storedBytes() > LARGE_BYTES)
    for (let i = 0; i < 3; i++) await send()
    const second = await done(['backup', PLACE, '--with-secret-key'], { env })
    assert.equal([second.blobs.count, second.blobs.added], [4, 3])
    assert.equal((await done(['verify', PLACE], { env })).faults, [])
    assert.equal((await done(['verify', first.path], { env })).faults, [])

    const restored = join(parent, 'restored')
    await done(['restore', PLACE, '--into', restored], { env })
    assert.equal(blobsIn(restored), blobsIn(dataDir))
    for (const file of blobsIn(dataDir).map(name => join('blobs', name.slice(0, 2), name)))
      assert.ok(readFileSync(join(restored, file)).equals(readFileSync(join(dataDir, file))), file)
    assert.equal(readFileSync(join(restored, 'secret.key')), readFileSync(join(dataDir, 'secret.key')))

    const last = await done(['backup', PLACE, '--keep', '1'], { env })
    assert.equal(last.removed, [first.path, second.path])
    const name = last.path.slice(PLACE.length + 1)
    assert.equal([...new Set((await keys()).map(key => key.split('/')[1]))].sort(), [name, 'blobs'].sort())
    const { type } = await startScene(t)
    const other = await type(['backup', PLACE, '--keep', '1'], { env })
    assert.is(other.code, 0, other.err)
    assert.equal(
      (await keys()).filter(key => key.includes('/blobs/')),
      [],
    )
    assert.ok(storedBytes() < PART_BYTES, 'a large file is removed with its parts')
  },
  options,
)

test(
  'a wrong key, region or bucket is named in one line',
  async t => {
    const { env, keys } = await startStore(t)
    const { type } = await startScene(t)
    for (const [wrong, place, expected] of [
      [
        { SECRET_ACCESS_KEY: 'another' },
        PLACE,
        /the store refuses the key \(.*SignatureDoesNotMatch.*: correct /,
      ],
      [
        { ACCESS_KEY_ID: 'nobody' },
        PLACE,
        /the store refuses the key \(.*: correct backup\.s3\.access_key_id/,
      ],
      [{ REGION: 'there-2' }, PLACE, /the bucket is in another region: set backup\.s3\.region to here-1$/],
      [{}, 's3://nothing/mail', /there is no such bucket: create it/],
    ] as const) {
      const changed = Object.entries(wrong).map(([name, value]) => [`MAILHORN_BACKUP_S3_${name}`, value])
      for (const args of [
        ['backup', place],
        ['verify', place],
      ]) {
        const { code, err } = await type(args, { env: { ...env, ...Object.fromEntries(changed) } })
        assert.is(code, 1)
        assert.match(err.trimEnd(), expected)
        assert.is(err.trimEnd().split('\n').length, 1, err)
      }
    }
    assert.equal(await keys(), [])
  },
  options,
)

test(
  'killed at any step, it leaves nothing that verify takes for whole, and the next backup is complete',
  async t => {
    const { relay, env, keys, storedBytes } = await startStore(t)
    const { done, type, send, parent } = await startScene(t)
    await send()
    await done(['backup', PLACE], { env })
    await send(randomBytes(LARGE_BYTES))
    for (const [name, request] of MOMENTS) {
      let child: ChildProcess | undefined
      relay.onRequest = line => {
        if (request.test(line)) child?.kill('SIGKILL')
      }
      const { code } = await type(['backup', PLACE, '--keep', '1'], {
        env,
        onStart: started => {
          child = started
        },
      })
      assert.is(code, null, `killed at ${name}`)
      relay.onRequest = () => {}
      const found = await done(['verify', PLACE], { env })
      assert.equal(found.faults, [], name)
    }
    const last = await done(['backup', PLACE, '--keep', '1'], { env })
    const found = await done(['verify', PLACE], { env })
    assert.equal([found.path, found.faults], [last.path, []])
    const whole = await done(['restore', PLACE, '--into', join(parent, 'restored')], { env })
    assert.is(whole.created_at, found.created_at)
    assert.equal(
      [...new Set((await keys()).map(key => key.split('/')[1]))].sort(),
      [last.path.slice(PLACE.length + 1), 'blobs'].sort(),
    )
    const rest = storedBytes() - LARGE_BYTES
    assert.ok(rest > 0 && rest < PART_BYTES, `interrupted uploads have left parts: ${rest} bytes`)
  },
  options,
)

test.run()
