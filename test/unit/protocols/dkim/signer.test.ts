import { verify } from 'node:crypto'
import * as assert from 'uvu/assert'
import { createLog } from '../../../../src/lib/log.ts'
import { createOnDemandWorker } from '../../../../src/lib/on-demand-worker.ts'
import { signHere } from '../../../../src/protocols/dkim/sign.ts'
import { createSigner, type SigningJob, signAll } from '../../../../src/protocols/dkim/signer.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { createTestKey } from './signed.ts'

const test = suite('dkim/signer')
const rsa = await createTestKey('rsa-sha256')
const ed25519 = await createTestKey('ed25519-sha256')
const TEXTS = ['one', 'two', 'drei – über', '']

/** Each text by both keys. */
const wanted = Promise.all(TEXTS.flatMap(text => [signHere(text, rsa), signHere(text, ed25519)]))

function openThread(t: TestContext) {
  const entry = new URL('../../../../src/workers/signing.ts', import.meta.url)
  const thread = createOnDemandWorker({ name: 'signing', entry, log: createLog('silent') })
  t.after(() => thread.close())
  const jobs: SigningJob[] = []
  const call = (name: string, job: unknown) => {
    jobs.push(job as SigningJob)
    return thread.call(name, job)
  }
  return { thread: { call }, jobs, end: () => thread.close() }
}

test('signer: several texts are one job for the thread, with each key once', async t => {
  const { thread, jobs } = openThread(t)
  const sign = createSigner(thread)
  const made = await Promise.all(TEXTS.flatMap(text => [sign(text, rsa), sign(text, ed25519)]))
  assert.equal(made, await wanted)
  assert.equal(
    jobs.map(({ keys, texts }) => [keys.length, texts.length]),
    [[2, 8]],
  )
  assert.ok(verify('sha256', Buffer.from('one'), rsa.publicKey, Buffer.from(made[0]!, 'base64')))
})

test('signer: more than twelve texts are split into jobs, and the first is sent at once', async () => {
  const jobs: number[] = []
  const sign = createSigner({
    async call(_, job) {
      const { texts } = job as SigningJob
      jobs.push(texts.length)
      return signAll(job as SigningJob)
    },
  })
  const texts = Array.from({ length: 30 }, (_, i) => `text ${i}`)
  const made = Promise.all(texts.map(text => sign(text, ed25519)))
  assert.equal(jobs, [12, 12])
  assert.equal(await made, await Promise.all(texts.map(text => signHere(text, ed25519))))
  await turn()
  assert.equal(jobs, [12, 12, 6])
})

test('signer: few texts are signed on the calling thread', async t => {
  const { thread, jobs } = openThread(t)
  const sign = createSigner(thread)
  assert.equal(await Promise.all([sign('one', rsa), sign('one', ed25519)]), (await wanted).slice(0, 2))
  assert.is(jobs.length, 0)
})

test('signer: while the thread has a job, few texts are sent there, too', async () => {
  const jobs: { job: SigningJob; answer: (signatures: string[]) => void }[] = []
  const sign = createSigner({
    call: (_, job) => new Promise(answer => jobs.push({ job: job as SigningJob, answer })),
  })
  const first = Promise.all(TEXTS.map(text => sign(text, rsa)))
  await turn()
  const second = sign('later', ed25519)
  await turn()
  assert.equal(
    jobs.map(({ job }) => job.texts),
    [TEXTS, ['later']],
  )
  for (const { job, answer } of jobs.toReversed()) answer(signAll(job))
  assert.is(await second, await signHere('later', ed25519))
  assert.equal(await first, await Promise.all(TEXTS.map(text => signHere(text, rsa))))
})

test('signer: the job of a thread that ends is signed on the calling thread', async t => {
  const { thread, end } = openThread(t)
  await end()
  const sign = createSigner(thread)
  assert.equal(await Promise.all(TEXTS.flatMap(text => [sign(text, rsa), sign(text, ed25519)])), await wanted)
})

test('signer: a failed job rejects its texts and does not affect the next', async () => {
  let isBroken = true
  const sign = createSigner({
    async call(_, job) {
      if (isBroken) throw new Error('no signatures today')
      return signAll(job as SigningJob)
    },
  })
  const all = () => Promise.allSettled(TEXTS.map(text => sign(text, ed25519)))
  for (const made of await all())
    assert.is(made.status === 'rejected' && made.reason.message, 'no signatures today')
  isBroken = false
  for (const made of await all()) assert.is(made.status, 'fulfilled')
})

function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

test.run()
